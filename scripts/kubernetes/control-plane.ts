// etcd, which keeps everything in memory, and the programs of Kubernetes that are not on a node. Times are those that
// Kubernetes has by default, because how soon a lost node is noticed depends on them.
import { join } from 'node:path'
import { API, MACHINE, PODS, SERVICE_OF_API, SERVICES } from './addresses.ts'
import type { Authority } from './authority.ts'
import { run, untilSo, type Programs } from './commands.ts'

const ETCD = 'http://127.0.0.1:2379'
const PEERS = 'http://127.0.0.1:2380'

export interface ControlPlaneOptions {
  /** The programs of Kubernetes. */
  readonly bin: string
  /** In memory. */
  readonly directory: string
  readonly authority: Authority
  readonly programs: Programs
}

/** Returns the kubeconfig of somebody who may do everything, once the API answers. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<string> {
  const { bin, directory, authority, programs } = options
  const { secret, shown } = authority.accountKey()
  const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'].map((name) => `DNS:${name}`)
  const own = authority.issue('apiserver', '/CN=kube-apiserver', [
    ...names,
    `IP:${MACHINE}`,
    `IP:${SERVICE_OF_API}`,
  ])
  const toKubelets = authority.issue('to-kubelets', '/O=system:masters/CN=apiserver')
  const admin = authority.kubeconfig('admin', '/O=system:masters/CN=admin')
  const program = (name: string) => join(bin, name)

  programs.start('etcd', [
    'etcd',
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=${ETCD}`,
    `--advertise-client-urls=${ETCD}`,
    `--listen-peer-urls=${PEERS}`,
    `--initial-advertise-peer-urls=${PEERS}`,
    `--initial-cluster=default=${PEERS}`,
    '--unsafe-no-fsync',
  ])
  programs.start('kube-apiserver', [
    program('kube-apiserver'),
    `--etcd-servers=${ETCD}`,
    `--bind-address=${MACHINE}`,
    `--advertise-address=${MACHINE}`,
    `--secure-port=${new URL(API).port}`,
    `--service-cluster-ip-range=${SERVICES}`,
    `--client-ca-file=${authority.certificate}`,
    '--authorization-mode=Node,RBAC',
    `--tls-cert-file=${own.certificate}`,
    `--tls-private-key-file=${own.key}`,
    `--service-account-key-file=${shown}`,
    `--service-account-signing-key-file=${secret}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--kubelet-client-certificate=${toKubelets.certificate}`,
    `--kubelet-client-key=${toKubelets.key}`,
    // Nobody knows the names of these nodes.
    '--kubelet-preferred-address-types=InternalIP',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    `--cert-dir=${join(directory, 'apiserver')}`,
  ])
  programs.start('kube-controller-manager', [
    program('kube-controller-manager'),
    `--kubeconfig=${authority.kubeconfig('controllers', '/CN=system:kube-controller-manager')}`,
    `--service-account-private-key-file=${secret}`,
    `--root-ca-file=${authority.certificate}`,
    '--use-service-account-credentials',
    '--leader-elect=false',
    `--cluster-cidr=${PODS}`,
    '--bind-address=127.0.0.1',
    '--port=0',
    `--cert-dir=${join(directory, 'controllers')}`,
  ])
  programs.start('kube-scheduler', [
    program('kube-scheduler'),
    `--kubeconfig=${authority.kubeconfig('scheduler', '/CN=system:kube-scheduler')}`,
    '--bind-address=127.0.0.1',
    '--port=0',
    '--leader-elect=false',
    `--cert-dir=${join(directory, 'scheduler')}`,
  ])
  const ask = ['--kubeconfig', admin, 'get', '--raw', '/readyz']
  await untilSo('the API of the cluster answers', () => run(['kubectl', ...ask]) === 'ok')
  return admin
}
