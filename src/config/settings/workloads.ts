// The settings of workloads.
import { z } from 'zod'
import { count, onOff } from '#config/checks.ts'
import type { Settings } from '#config/setting.ts'

const REGISTRY = /^(?:http:\/\/)?(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/

export const WORKLOADS_SETTINGS = {
  workloads: {
    name: 'ERGON_WORKLOADS',
    flag: 'workloads',
    help: 'on or off: containers of accounts on this node (default on)',
    check: onOff.default(true),
  },
  workloadDriver: {
    name: 'ERGON_WORKLOAD_DRIVER',
    flag: 'workload-driver',
    help: 'local or docker: containers run as cells of this machine, or on an engine of Docker or Podman (default local)',
    check: z.enum(['local', 'docker']).default('local'),
  },
  workloadEngine: {
    name: 'ERGON_WORKLOAD_ENGINE',
    flag: 'workload-engine',
    help: 'Socket of the engine that the driver docker uses, on this machine (default /var/run/docker.sock)',
    check: z.string().startsWith('/', 'must be an absolute path').default('/var/run/docker.sock'),
  },
  workloadReadySeconds: {
    name: 'ERGON_WORKLOAD_READY_SECONDS',
    flag: 'workload-ready-seconds',
    help: 'Seconds until an instance must be ready: a new version that is not is given up (default 120)',
    check: count(1, 3600).default(120),
  },
  workloadCalmSeconds: {
    name: 'ERGON_WORKLOAD_CALM_SECONDS',
    flag: 'workload-calm-seconds',
    help: 'Seconds over which the requests of a workload must have needed fewer instances before it has fewer (default 60)',
    check: count(1, 3600).default(60),
  },
  workloadMemoryMb: {
    name: 'ERGON_WORKLOAD_MEMORY_MB',
    flag: 'workload-memory-mb',
    help: 'Megabytes of memory that the running instances of all workloads may have together (default: that of the machine)',
    check: count(16, 100_000_000).optional(),
  },
  accountVolumesMb: {
    name: 'ERGON_ACCOUNT_VOLUMES_MB',
    flag: 'account-volumes-mb',
    help: 'Megabytes that all volumes of an account may have together, full or not (default: a quarter of the disk of the data folder)',
    check: count(16, 1_000_000_000).optional(),
  },
  accountImagesMb: {
    name: 'ERGON_ACCOUNT_IMAGES_MB',
    flag: 'account-images-mb',
    help: 'Megabytes that all images of an account may have on the node, unpacked, each image once (default: a quarter of the disk of the data folder)',
    check: count(16, 1_000_000_000).optional(),
  },
  privateRegistries: {
    name: 'ERGON_PRIVATE_REGISTRIES',
    flag: 'private-registries',
    help: 'Registries on private addresses that images may be pulled from, by comma, such as registry.internal:5000; with http:// before it one is asked without TLS (default: none)',
    check: z
      .string()
      .transform((text) => text.split(',').map((one) => one.trim()))
      .refine(
        (all) => all.every((one) => REGISTRY.test(one)),
        'must be hosts with ports by comma, such as http://127.0.0.1:5000',
      )
      .default([]),
  },
  registryPasswords: {
    name: 'ERGON_REGISTRY_PASSWORDS',
    flag: 'registry-passwords',
    help: 'File with passwords of registries, as docker login writes it: every account may pull what they open (default: none)',
    check: z.string().startsWith('/', 'must be an absolute path').optional(),
  },
  imageFolder: {
    name: 'ERGON_IMAGE_FOLDER',
    flag: 'image-folder',
    help: 'Folder of images in files: accounts may run oci: and docker-archive: paths below it, and no others (default: none)',
    check: z.string().startsWith('/', 'must be an absolute path').optional(),
  },
} satisfies Settings
