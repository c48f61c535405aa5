// A container as the engine is asked for it: no privilege, no folder of the machine, a root folder that cannot be changed, and
// limits.
import { variablesOf, argvOf } from '#workloads/program.ts'
import type { WorkloadSpec } from '#workloads/driver.ts'
import { INSTANCE_LIMITS } from '#workloads/instance-cell.ts'
import type { Confinement } from './confinement.ts'

const CPU_PERIOD_US = 100_000
const MILLI = 1000
const MEMORY_FOLDERS = { '/tmp': '64m', '/run': '16m' }
/** The most threads of its user. Without a number Podman asks for more than a machine may permit. */
const THREADS = 4096

export type ContainerGiven = {
  readonly image: string
  /** The user of its processes, which no other container has: limits by user are of the whole machine. */
  readonly uid: number
  /** The control group above that of the container, by its path below the mount. */
  readonly group: string
  readonly labels: Readonly<Record<string, string>>
  /** Names of its own loopback. */
  readonly hosts: readonly string[]
  readonly confinement: Confinement
  /** The mounts of its volumes. */
  readonly mounts: readonly object[]
}

export function containerBody(spec: WorkloadSpec, given: ContainerGiven): object {
  return {
    Image: given.image,
    Entrypoint: [],
    Cmd: argvOf(spec),
    Env: Object.entries(variablesOf(spec)).map(([name, value]) => `${name}=${value}`),
    WorkingDir: spec.config.folder,
    User: `${given.uid}:${given.uid}`,
    Hostname: spec.name,
    Labels: given.labels,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: hostConfig(spec, given),
  }
}

const hostConfig = (
  { cpuMilli, memoryBytes }: WorkloadSpec,
  { group, hosts, confinement, mounts }: ContainerGiven,
): object => ({
  // Its own loopback and nothing else: a relay leads into it.
  NetworkMode: 'none',
  // All ports are the program's, as the network is. Docker permits them by itself, Podman does not.
  Sysctls: { 'net.ipv4.ip_unprivileged_port_start': '0' },
  ExtraHosts: hosts.map((host) => `${host}:127.0.0.1`),
  CgroupParent: group,
  ...confinement,
  ReadonlyRootfs: true,
  Mounts: mounts,
  Tmpfs: Object.fromEntries(
    Object.entries(MEMORY_FOLDERS).map(([path, size]) => [
      path,
      `rw,nosuid,nodev,mode=1777,size=${size}`,
    ]),
  ),
  Memory: memoryBytes,
  // No swap above it.
  MemorySwap: memoryBytes,
  CpuPeriod: CPU_PERIOD_US,
  CpuQuota: (cpuMilli * CPU_PERIOD_US) / MILLI,
  PidsLimit: INSTANCE_LIMITS.processes,
  Ulimits: [
    { Name: 'nofile', Soft: INSTANCE_LIMITS.files, Hard: INSTANCE_LIMITS.files },
    { Name: 'nproc', Soft: THREADS, Hard: THREADS },
    { Name: 'core', Soft: 0, Hard: 0 },
  ],
  // Its output is read as it comes, and the engine keeps none.
  LogConfig: { Type: 'none' },
  // The agent starts it again.
  RestartPolicy: { Name: 'no' },
})
