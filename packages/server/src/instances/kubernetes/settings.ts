// What the driver needs of the settings.
import type { Config } from '../../config/config.ts'
import type { PodPlace } from './pod-manifest.ts'

export function podPlace(config: Config): PodPlace {
  return {
    image: config.BERTH_KUBERNETES_IMAGE,
    pullPolicy: config.BERTH_KUBERNETES_PULL_POLICY,
    pullSecrets: config.BERTH_KUBERNETES_PULL_SECRETS,
    serviceAccount: config.BERTH_KUBERNETES_SERVICE_ACCOUNT,
    runtimeClass: config.BERTH_KUBERNETES_RUNTIME_CLASS,
    gpuResource: config.BERTH_KUBERNETES_GPU_RESOURCE,
    gpuRuntimeClass: config.BERTH_KUBERNETES_GPU_RUNTIME_CLASS,
    nodeSelector: config.BERTH_KUBERNETES_NODE_SELECTOR,
    tolerations: config.BERTH_KUBERNETES_TOLERATIONS,
    priorityClass: config.BERTH_KUBERNETES_PRIORITY_CLASS,
    seccomp: config.BERTH_KUBERNETES_SECCOMP,
    appArmor: config.BERTH_KUBERNETES_APPARMOR,
    cpuPercent: config.BERTH_KUBERNETES_CPU_PERCENT,
    memoryPercent: config.BERTH_KUBERNETES_MEMORY_PERCENT,
  }
}
