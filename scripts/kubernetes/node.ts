// A node: a network and a mount namespace, in which containerd, the kubelet and kube-proxy find everything at its usual
// place. Its wire to the machine can be cut.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addressOfNode, BRIDGE, MACHINE, PODS, podsOfNode, SERVICES, wireOfNode } from './addresses.ts'
import type { Authority } from './authority.ts'
import { run, untilSo, type Command, type Programs } from './commands.ts'
import { makeGroup } from './groups.ts'
import { PAUSE, type ImageArchive } from './images.ts'

const SECCOMP = join(import.meta.dirname, '../../deploy/seccomp/berth-instance.json')

export interface NodeOptions {
  /** From 1 on. */
  readonly number: number
  /** Of all nodes. */
  readonly count: number
  readonly bin: string
  /** On a disk, for its images and containers. */
  readonly disk: string
  /** In memory, seen by every namespace of the cluster. */
  readonly directory: string
  readonly images: readonly ImageArchive[]
  readonly authority: Authority
  readonly programs: Programs
}

/** For tests. */
export interface NodeDescription {
  readonly name: string
  readonly address: string
  /** The end of its wire at the machine; `ip link set … down` cuts it. */
  readonly wire: string
  /** A process in its namespaces. */
  readonly pid: number
}

export async function startNode(options: NodeOptions): Promise<NodeDescription> {
  const { number, disk, images, programs } = options
  const name = `node${number}`
  for (const each of ['containerd', 'kubelet/seccomp']) mkdirSync(join(disk, each), { recursive: true })
  // As an operator may put it there. The chart writes the same.
  cpSync(SECCOMP, join(disk, 'kubelet/seccomp/berth-instance.json'))
  const pid = await makeNamespaces(disk)
  const inside = (command: Command): Command => ['nsenter', `--target=${pid}`, '--mount', '--net', ...command]
  connect(options, pid, inside)

  programs.start(`${name}-containerd`, inside(['containerd', '--config', writeContainerd(options)]))
  await untilSo(`containerd of ${name} answers`, () => run(inside(['ctr', 'version'])) !== '')
  for (const { file } of images)
    await imported(inside(['ctr', '--namespace=k8s.io', 'images', 'import', file]))
  programs.start(`${name}-kubelet`, inside(kubelet(options)))
  programs.start(`${name}-kube-proxy`, inside(kubeProxy(options)))
  return { name, address: addressOfNode(number), wire: wireOfNode(number), pid }
}

/** What the programs of a node write is in memory of its own, and on its disk. */
async function makeNamespaces(disk: string): Promise<number> {
  const script = [
    ...['/run', '/var/lib', '/var/log'].map((path) => `mount -t tmpfs tmpfs ${path}`),
    'mkdir /var/lib/containerd /var/lib/kubelet /var/lib/cni',
    `mount --bind '${join(disk, 'containerd')}' /var/lib/containerd`,
    `mount --bind '${join(disk, 'kubelet')}' /var/lib/kubelet`,
    'echo ready',
    'exec sleep infinity',
  ].join(' && ')
  const holder = spawn('unshare', ['--net', '--mount', 'sh', '-c', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(holder, 'exit').then(() => 'ended' as const)
  if ((await Promise.race([once(holder.stdout, 'data'), ended])) === 'ended') {
    throw new Error('Cannot make the namespaces of a node; what failed is printed above')
  }
  return holder.pid!
}

function connect({ number, count }: NodeOptions, pid: number, inside: (command: Command) => Command): void {
  const address = addressOfNode(number)
  run(['ip', 'link', 'add', wireOfNode(number), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid)])
  run(['ip', 'link', 'set', wireOfNode(number), 'master', BRIDGE, 'up'])
  run(inside(['ip', 'address', 'add', `${address}/24`, 'dev', 'eth0']))
  for (const link of ['lo', 'eth0']) run(inside(['ip', 'link', 'set', link, 'up']))
  run(inside(['ip', 'route', 'add', 'default', 'via', MACHINE]))
  run(inside(['sysctl', '--quiet', '--write', 'net.ipv4.ip_forward=1']))
  run(['ip', 'route', 'add', podsOfNode(number), 'via', address])
  // The first node lets the machine in to Services.
  if (number === 1) run(['ip', 'route', 'add', SERVICES, 'via', address])
  for (let other = 1; other <= count; other++) {
    if (other !== number) run(inside(['ip', 'route', 'add', podsOfNode(other), 'via', addressOfNode(other)]))
  }
}

function writeContainerd(options: NodeOptions): string {
  const file = own(options, 'containerd.toml')
  const networks = own(options, 'networks')
  const pods = podsOfNode(options.number)
  mkdirSync(networks, { recursive: true })
  const network = {
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: 'pods',
        isGateway: true,
        hairpinMode: true,
        ipam: { type: 'host-local', ranges: [[{ subnet: pods }]], routes: [{ dst: '0.0.0.0/0' }] },
      },
    ],
  }
  writeFileSync(join(networks, 'pods.conflist'), JSON.stringify(network))
  const text = `
version = 2
[plugins."io.containerd.internal.v1.opt"]
  path = "/run/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE}"
  disable_apparmor = true
  # Not everywhere may root make a process harder to kill.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${networks}"
`
  writeFileSync(file, text)
  return file
}

function kubelet(options: NodeOptions): Command {
  const { number, bin, authority } = options
  const name = `node${number}`
  const address = addressOfNode(number)
  const identity = `/O=system:nodes/CN=system:node:${name}`
  const { certificate, key } = authority.issue(name, identity, [`DNS:${name}`, `IP:${address}`])
  const settings = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: authority.certificate },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: certificate,
    tlsPrivateKeyFile: key,
    clusterDNS: [MACHINE],
    clusterDomain: 'cluster.local',
    cgroupDriver: 'cgroupfs',
    cgroupRoot: makeGroup(name),
    failSwapOn: false,
    healthzBindAddress: '127.0.0.1',
    imageGCHighThresholdPercent: 100,
    evictionHard: { 'memory.available': '200Mi' },
  }
  const file = own(options, 'kubelet.json')
  writeFileSync(file, JSON.stringify(settings, undefined, 1))
  return [
    join(bin, 'kubelet'),
    `--config=${file}`,
    `--kubeconfig=${authority.kubeconfig(name, identity)}`,
    `--hostname-override=${name}`,
    `--node-ip=${address}`,
    `--pod-infra-container-image=${PAUSE}`,
    '--container-runtime=remote',
    '--container-runtime-endpoint=unix:///run/containerd/containerd.sock',
    '--network-plugin=cni',
  ]
}

function kubeProxy({ number, bin, authority }: NodeOptions): Command {
  return [
    join(bin, 'kube-proxy'),
    `--kubeconfig=${authority.kubeconfig('proxy', '/CN=system:kube-proxy')}`,
    `--hostname-override=node${number}`,
    '--proxy-mode=iptables',
    `--cluster-cidr=${PODS}`,
    // These settings are those of the whole machine.
    '--conntrack-max-per-core=0',
    '--conntrack-tcp-timeout-established=0',
    '--conntrack-tcp-timeout-close-wait=0',
  ]
}

function own({ number, directory }: NodeOptions, name: string): string {
  const path = join(directory, `node${number}`)
  mkdirSync(path, { recursive: true })
  return join(path, name)
}

async function imported([program, ...args]: Command): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`Cannot import ${args.at(-1)}: ctr ended with ${code}`)
}
