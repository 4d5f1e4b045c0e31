// A real cluster, named by KUBECONFIG, and an image, named by BERTH_TEST_IMAGE, which its nodes have or can pull.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { PodPlace } from '@berth/server/instances/kubernetes/pod-manifest'

const {
  KUBECONFIG: kubeconfig = '',
  BERTH_TEST_IMAGE: image = '',
  BERTH_TEST_NAMESPACE: namespace = 'default',
} = process.env
export const cluster = { kubeconfig, image, namespace }

if (!kubeconfig || !image)
  throw new Error('These tests need a cluster: run them with `npm run test:kubernetes`')

export const place: PodPlace = {
  image,
  pullPolicy: process.env['BERTH_TEST_PULL_POLICY'] ?? 'IfNotPresent',
  pullSecrets: [],
  serviceAccount: '',
  runtimeClass: '',
  gpuResource: '',
  gpuRuntimeClass: '',
  nodeSelector: {},
  tolerations: [],
  priorityClass: '',
  seccomp: process.env['BERTH_KUBERNETES_SECCOMP'] ?? 'localhost/berth-instance.json',
  appArmor: 'unconfined',
  cpuPercent: 5,
  memoryPercent: 50,
}

const execute = promisify(execFile)

export const kubectl = (...args: string[]) => kubectlIn(namespace, ...args)

/** What it prints. An empty namespace: for what is in none. */
export async function kubectlIn(of: string, ...args: string[]): Promise<string> {
  const where = ['--kubeconfig', kubeconfig, ...(of === '' ? [] : ['--namespace', of])]
  const { stdout } = await execute('kubectl', [...where, ...args], { maxBuffer: 64 * 1024 * 1024 })
  return stdout
}
