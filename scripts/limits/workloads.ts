// Limits: workloads.
import { COMMAND_BYTES_MAX } from '#cells/launch.ts'
import { ROOT_ENTRIES_MAX } from '#cells/root/plan.ts'
import { HOSTS_MAX } from '#contract/resources/host-limits.ts'
import { LAYERS_MAX } from '#contract/workloads/images.ts'
import { REGISTRY_PASSWORDS_MAX } from '#contract/workloads/registry-limits.ts'
import * as workloads from '#contract/workloads/workload-limits.ts'
import { IMAGE_BYTES_MAX, IMAGE_ENTRIES_MAX, LAYER_PATH_BYTES_MAX } from '#images/store.ts'
import { bytes, code, count, words, type LimitSection } from './limit.ts'

export const WORKLOADS: LimitSection = {
  title: 'Workloads',
  limits: [
    ['workloads of an account', count(workloads.WORKLOADS_MAX), code('too_many_workloads')],
    [
      'instances of the workloads of an account',
      count(workloads.ACCOUNT_INSTANCES_MAX),
      code('too_many_instances'),
    ],
    ['instances of a workload', count(workloads.WORKLOAD_INSTANCES_MAX), code('invalid_request')],
    ['volumes of a workload', count(workloads.WORKLOAD_VOLUMES_MAX), code('invalid_request')],
    [
      'size of a volume',
      `${workloads.WORKLOAD_VOLUME.least} to ${workloads.WORKLOAD_VOLUME.most}`,
      code('invalid_request'),
    ],
    [
      'size of all volumes of an account, full or not (`ERGON_ACCOUNT_VOLUMES_MB`)',
      'a quarter of the disk of the node',
      code('volume_quota_exceeded'),
    ],
    [
      'images of an account on the node, unpacked, each once, by their bytes or their part of the inodes (`ERGON_ACCOUNT_IMAGES_MB`)',
      'a quarter of the disk of the node',
      words('old versions give theirs up, then the version fails with `image_quota_exceeded`'),
    ],
    [
      'image, packed and unpacked',
      bytes(IMAGE_BYTES_MAX),
      words('the version fails with `image_too_large`'),
    ],
    ['layers of an image', count(LAYERS_MAX), words('the version fails with `image_unsupported`')],
    [
      'entries of an image',
      count(IMAGE_ENTRIES_MAX),
      words('the version fails with `image_hostile`'),
    ],
    [
      'paths of a layer together, with those of the folders around its entries',
      bytes(LAYER_PATH_BYTES_MAX),
      words('the version fails with `image_hostile`'),
    ],
    [
      'time of a pull',
      `${count(workloads.IMAGE_PULL_S_MAX)} s`,
      words('the version fails with `image_too_slow`'),
    ],
    [
      'pulls at once',
      `${workloads.PULLS_MAX.account} of an account, ${workloads.PULLS_MAX.node} of a node`,
      words('further ones wait'),
    ],
    [
      'registries whose passwords an account keeps',
      count(REGISTRY_PASSWORDS_MAX),
      code('too_many_registries'),
    ],
    [
      'entries of an image in `/`, in `/etc` and in the folders around its volumes, together',
      count(ROOT_ENTRIES_MAX),
      words('the version fails, with the folder'),
    ],
    [
      'mounts, arguments and variables of an instance',
      bytes(COMMAND_BYTES_MAX),
      words('the version fails'),
    ],
    ['host names of a workload', count(HOSTS_MAX), code('invalid_request')],
    [
      'requests of a workload at once',
      `${workloads.WORKLOAD_CONCURRENCY} for each of its most instances; further ones wait`,
      code('workload_busy'),
    ],
    ['body of a request', bytes(workloads.WORKLOAD_BODY_BYTES_MAX), code('body_too_large')],
    [
      'lines of a log',
      `the newest ${count(workloads.WORKLOAD_LOG_LINES_MAX)}`,
      words('older ones go'),
    ],
  ],
}
