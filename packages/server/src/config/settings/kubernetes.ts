import { commaList, fileContent, integer, matching, oneOf, text } from '../parsers/basic.ts'
import { labelValues, tolerationList } from '../parsers/kubernetes.ts'
import { setting } from './setting.ts'

export const kubernetesSettings = {
  BERTH_DRIVER: setting({
    default: 'local',
    parse: oneOf('local', 'kubernetes'),
    help: 'Where browser sessions run: on this machine, or as Pods of a Kubernetes cluster.',
  }),
  BERTH_KUBERNETES_IMAGE: setting({
    default: '',
    parse: text,
    help: 'Image of the Pods of sessions: the same as of the server.',
  }),
  BERTH_KUBERNETES_NAMESPACE: setting({
    default: '',
    parse: matching(/^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$/, 'the name of a namespace'),
    help: 'Namespace of the Pods. Empty: that of the service account, or of the kubeconfig.',
  }),
  BERTH_KUBERNETES_KUBECONFIG: setting({
    default: '',
    parse: fileContent,
    isFile: true,
    help: 'kubeconfig file. Empty: the service account of the Pod that the server runs in.',
  }),
  BERTH_KUBERNETES_PULL_POLICY: setting({
    default: 'IfNotPresent',
    parse: oneOf('IfNotPresent', 'Always', 'Never'),
    help: 'When nodes pull the image.',
  }),
  BERTH_KUBERNETES_PULL_SECRETS: setting({
    default: '',
    parse: commaList,
    help: 'Comma list of Secrets with which nodes pull the image.',
  }),
  BERTH_KUBERNETES_SERVICE_ACCOUNT: setting({
    default: '',
    parse: text,
    help: 'Service account of the Pods. It needs no rights, and its token is not mounted.',
  }),
  BERTH_KUBERNETES_RUNTIME_CLASS: setting({
    default: '',
    parse: text,
    help: 'RuntimeClass of the Pods, such as one of gVisor or Kata.',
  }),
  BERTH_KUBERNETES_GPU_RESOURCE: setting({
    default: '',
    parse: matching(
      /^(|[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)$/,
      'the name of a resource, such as nvidia.com/gpu',
    ),
    help: 'Resource of which the Pod of a session with a GPU asks for one. Empty: no such sessions.',
  }),
  BERTH_KUBERNETES_GPU_RUNTIME_CLASS: setting({
    default: '',
    parse: text,
    help: 'RuntimeClass of these Pods, such as nvidia. Empty: that of the others.',
  }),
  BERTH_KUBERNETES_NODE_SELECTOR: setting({
    default: '',
    parse: labelValues,
    help: 'Comma list of label=value: Pods run only on nodes with these labels.',
  }),
  BERTH_KUBERNETES_TOLERATIONS: setting({
    default: '',
    parse: tolerationList,
    help: 'Taints that the Pods tolerate: a JSON list, as in a Pod.',
  }),
  BERTH_KUBERNETES_PRIORITY_CLASS: setting({
    default: '',
    parse: text,
    help: 'PriorityClass of the Pods.',
  }),
  BERTH_KUBERNETES_SECCOMP: setting({
    default: 'localhost/berth-instance.json',
    parse: matching(
      /^(localhost\/.+|Unconfined|RuntimeDefault)$/,
      'localhost/…, Unconfined or RuntimeDefault',
    ),
    help: 'Seccomp profile of the container with the browser. It must allow user namespaces and mounts.',
  }),
  BERTH_KUBERNETES_APPARMOR: setting({
    default: 'unconfined',
    parse: matching(
      /^(|unconfined|runtime\/default|localhost\/.+)$/,
      'unconfined, runtime/default or localhost/…',
    ),
    help: 'AppArmor profile of that container. It must allow mounts. Empty: what the cluster does by itself.',
  }),
  BERTH_KUBERNETES_CPU_PERCENT: setting({
    default: '25',
    unit: '%',
    parse: integer(1, 100),
    help: 'How much of the processors that a session may use is reserved for it on its node.',
  }),
  BERTH_KUBERNETES_MEMORY_PERCENT: setting({
    default: '100',
    unit: '%',
    parse: integer(1, 100),
    help: 'How much of the memory that a session may use is reserved for it on its node.',
  }),
  BERTH_KUBERNETES_FREEZER_KEY: setting({
    default: '',
    parse: matching(/^(|.{24,})$/, 'at least 24 characters'),
    help: 'Key of the helper on each node, which makes standby possible. Empty: no standby.',
  }),
  BERTH_KUBERNETES_FREEZER_PORT: setting({
    default: '7444',
    parse: integer(1, 65_535),
    help: 'Port of the helper on each node.',
  }),
  BERTH_KUBERNETES_START_SECONDS: setting({
    default: '60',
    unit: 'seconds',
    parse: integer(5, 3600),
    help: 'How long a Pod may take until its browser can start.',
  }),
  BERTH_KUBERNETES_FULL_SECONDS: setting({
    default: '10',
    unit: 'seconds',
    parse: integer(0, 3600),
    help: 'How long to wait for room in a full cluster. Longer than an autoscaler takes, if there is one.',
  }),
}
