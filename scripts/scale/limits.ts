// Kubernetes as it is shipped. docs/scale.md says where each number is from.
import type { ClusterLimits } from './model/inputs.ts'

export const kubernetes: ClusterLimits = {
  callSeconds: 0.01,
  schedulerPerSecond: 50,
  schedulerBurst: 100,
  startSeconds: 2.5,
  startSpread: 0.25,
  startsAtOncePerNode: 4,
  endSeconds: 2,
  collectedPerSecond: 20,
  callsPerPod: 14,
  writesPerPod: 18,
  watchEventsPerPod: 5,
  etcdWritesPerSecond: 2_000,
}
