// The interface of drivers, which run workloads: cells of this machine today, an engine for containers and a cluster later. A
// driver gets an image by its name and gives an address; paths and process ids stay inside.
import type { ImageConfig } from '#images/manifest.ts'
import type { Instance } from '#resources/instances.ts'

export type WorkloadHealth = {
  readonly path: string
  readonly intervalMs: number
  readonly timeoutMs: number
}

/** A folder that outlives instances and versions; one instance at a time mounts it. */
export type WorkloadVolume = {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly bytes: number
}

/** A version of a workload as a driver runs it. */
export type WorkloadSpec = {
  readonly id: string
  readonly account: string
  readonly name: string
  readonly version: number
  /** Which of the instances of the version, from 1 on. */
  readonly instance: number
  readonly image: string
  readonly digest: string
  /** The process that the image describes. */
  readonly config: ImageConfig
  readonly port: number
  readonly command: readonly string[] | null
  readonly env: Readonly<Record<string, string>>
  readonly cpuMilli: number
  readonly memoryBytes: number
  readonly health: WorkloadHealth | null
  readonly volumes: readonly WorkloadVolume[]
}

/** An image that is pulled: its digest is of the registry that its name has. */
export type PulledImageName = Pick<WorkloadSpec, 'image' | 'digest'>

export type WorkloadPull = Pick<WorkloadSpec, 'id' | 'account' | 'version' | 'image'> & {
  /** The bytes that its files may have. */
  readonly roomBytes: number
}
export type WorkloadPulled = { readonly digest: string; readonly config: ImageConfig }
/** A pulled image where it runs. No removal takes it before the disposal: its version is in the state then. */
export type HeldImage = Disposable &
  WorkloadPulled & {
    /** The image among all others; see imageWordOf(). */
    readonly word: string
    /** The bytes that all copies of its files take of the disk. */
    readonly bytes: number
    /** Two where an engine has the files once more. */
    readonly copies: number
  }
export type WorkloadProgress = { readonly doneBytes: number; readonly totalBytes: number }

/** The end of a life of an instance that nobody asked for: 137 where the memory ran out. */
export type WorkloadEnd = { readonly exitCode: number; readonly words: string }

/** Events of an instance. */
export type WorkloadEvents = {
  readonly line: (stream: 'stdout' | 'stderr', text: string) => void
  /** It is started again by the driver, later after each end. */
  readonly ended: (end: WorkloadEnd) => void
}

/** `ready` rejects with workload_failed where it does not become ready, with the observed reason. */
export interface RunningWorkload extends Instance {
  /** `unix:<path>`, or `http://<host>:<port>`. */
  readonly address: string
  /** The name of its cell. */
  readonly cell: string
}

export type VolumesOf = Pick<WorkloadSpec, 'id' | 'volumes'>

/** The wait of volumes for room of the disk, or for the checks of other volumes. */
export type VolumesWait = {
  /** Ends a wait. The work on a file goes on, and files that are whole are opened. */
  readonly signal: AbortSignal
  /** Called with a word of VOLUMES_WAIT when a wait is longer than a moment, and with null when that wait is over. */
  readonly waits: (what: string | null) => void
}

/** Volumes that wait for no others any more: what was taken for them is held until the disposal. */
export type ReadyVolumes<Opened = unknown> = Disposable & {
  /** As `open` of WorkloadVolumes. The signal ends what has not begun. */
  readonly open: (signal: AbortSignal) => Promise<Opened>
}

/** Volumes where the driver has them. */
export interface WorkloadVolumes {
  /**
   * Waits for what others hold and these need: room of the disk, and a turn for the checks of those that grow. Another
   * instance may run with them meanwhile. Throws workload_failed where the disk has no room, and the reason of the signal.
   */
  prepare(spec: VolumesOf, wait: VolumesWait): Promise<ReadyVolumes>
  /** Makes and grows those of an instance, which is not running. Throws as `prepare`. */
  open(spec: VolumesOf, wait: VolumesWait): Promise<unknown>
  /** Those whose files are not there in their sizes, with the bytes that each file has: 0 where there is none. */
  lacking(spec: VolumesOf): Promise<ReadonlyMap<string, number>>
  /** Removes those of a workload but these. */
  keep(workload: string, volumes: ReadonlySet<string>): Promise<void>
  /** Removes those of all workloads but these. */
  keepWorkloads(ids: ReadonlySet<string>): Promise<void>
  /** The room of each on the disk, in bytes. */
  used(): Promise<ReadonlyMap<string, number>>
}

export interface WorkloadDriver {
  /**
   * Brings the image of a version to where it runs; charged to its account. Throws the image_… codes, and
   * registry_unreachable, after which another try may succeed.
   */
  pull(
    wanted: WorkloadPull,
    progress: (now: WorkloadProgress) => void,
    signal: AbortSignal,
  ): Promise<HeldImage>
  /** True where the image is there already. */
  has(image: PulledImageName): boolean
  /** Throws at once as `start` does for a version that its image cannot run. */
  assertFit(spec: WorkloadSpec): void
  /** Starts an instance; resolves before it is ready. Rejects where its account cannot pay, or its budget is used up. */
  start(spec: WorkloadSpec, events: WorkloadEvents, wait: VolumesWait): Promise<RunningWorkload>
  /** The bytes that the files of an image take of the disk; 0 where it is not there. */
  bytesOf(image: PulledImageName, signal: AbortSignal): Promise<number>
  /** Begins to remove images but those of the words, which are asked for when no earlier removal goes on. */
  prune(wanted: () => Promise<ReadonlySet<string>>): Promise<void>
  readonly volumes: WorkloadVolumes
}
