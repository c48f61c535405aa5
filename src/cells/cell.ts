// A cell: one supervised, metered process tree that answers on one unix socket. Every process of the
// product but the agent is one, ours and tenants' alike.
import type { Readable } from 'node:stream'

/** Waits before the next start: the n-th of `delaysMs` (the last one repeats); `steadyMs` of life resets it. */
export type Backoff = { readonly delaysMs: readonly number[]; readonly steadyMs: number }

export type CellSpec = {
  /** Unique on this node, kebab-case: postgres, gw-1, signer-3, model-smollm2-135m-instruct. */
  readonly name: string
  /**
   * The cell whose uid it runs under; its own by default. Cells that share a port must share a uid, as the
   * kernel asks of SO_REUSEPORT (socket(7)); they must then trust one another.
   */
  readonly user?: string
  /** Program (an absolute path) and arguments. Paths are those of the host, and stay the same inside. */
  readonly argv: readonly [string, ...string[]]
  /** The whole environment of the process; nothing is inherited. Names are [A-Za-z_][A-Za-z0-9_]*. */
  readonly environment: Readonly<Record<string, string>>
  /** Narrow config: one JSON line on fd 3, which stays open; its EOF means the parent is gone. */
  readonly config: unknown
  /** A spare: its program answers, and waits for the config of the cell that it becomes (Cells.assign). */
  readonly isSpare?: true
  /**
   * Folders the cell may read, though the cell's uid could not reach them by path. The application
   * folder is always one. With namespaces the rest of the data and run folders is hidden.
   */
  readonly reads: readonly string[]
  /** Folders the cell owns: created 0700 and given to its uid. */
  readonly writes: readonly string[]
  /** A folder that it reads, of code that Node has compiled: found by NODE_COMPILE_CACHE, under its uid. */
  readonly compiled?: string
  /** The group that may connect to the cell's socket; cells that name it in `calls` are members. */
  readonly socketGroup: string
  /** Socket groups whose cells this one calls. With a root folder of its own it sees none of them: its outlet does. */
  readonly calls: readonly string[]
  readonly limits: {
    readonly memoryBytes?: number
    /**
     * The most memory of each process, beside what they share: more is refused to the process, which may go on without
     * it.
     */
    readonly processMemoryBytes?: number
    readonly files?: number
    readonly processes?: number
    /** Thousandths of a processor that all of its processes together may use of each tenth of a second. */
    readonly cpuMilli?: number
  }
  /** 'none': a network namespace of its own without devices (tenants' code); unix sockets still work. */
  readonly network?: 'host' | 'none'
  /** 'tenant': the program may make only the system calls of tenants' code, where the machine can filter them. */
  readonly syscalls?: 'all' | 'tenant'
  /**
   * A root folder of its own (tenants' code). Of the machine the cell sees what is named here and in `reads`. It has a
   * network and a user namespace of its own, and filtered system calls. `Isolation.admitsTenants` tells where it works.
   */
  readonly root?: CellRoot
  /**
   * Another program starts the processes of each life, as an engine does those of a container. Program, environment, folders
   * and limits are then that program's; socket, payer, checks, stop and restart are those of any cell.
   */
  readonly container?: CellContainer
  /** Takes its lines of output; without it they go to the agent's stderr. */
  readonly output?: (line: OutputLine) => void
  /** Told of each life that ended by itself, behind its last line of output. */
  readonly ended?: (exit: Exit, life: EndedLife) => void
  /** The launcher's test that the cell answers; the cell's socket is `<folder>/<socket>`. */
  readonly ready: {
    readonly probe: (socket: string, signal: AbortSignal) => Promise<void>
    readonly timeoutMs: number
    /**
     * A word about a start that takes long, by its processes, and undefined where nothing is known. Each time that the word
     * has changed the start has that time again.
     */
    readonly progress?: (processes: readonly number[]) => string | undefined
  }
  readonly socket: string
  /** True where it bills accounts by tariff, and says so on a page of its socket (node/meter/gateway-bills.ts). */
  readonly bills?: true
  /** True where it works for cells of accounts, and says how much on a page of its socket (node/meter/caused-cpu.ts). */
  readonly worksForCells?: true
  /** True where it does upkeep, and says how much on a page of its socket (node/meter/upkeep.ts). */
  readonly doesUpkeep?: true
  /** True where it works on a GPU, and says how long on a page of its socket (node/meter/gpu-time.ts). */
  readonly usesGpu?: true
  /** The supervisor's test that a ready cell still works; absent: while the process lives. */
  readonly watch?: Watch
  readonly stop: { readonly signal: NodeJS.Signals; readonly graceMs: number }
  readonly restart: Backoff
  /** The payer of the cell's windows: an account (by id), the callers (by claims) or the operator. */
  readonly payer:
    | { readonly kind: 'account'; readonly account: string }
    | { readonly kind: 'caller' | 'operator' }
}

export type CellRoot = {
  /** The unpacked root folder of an image, which the cell cannot change; else the machine's programs and libraries. */
  readonly image?: string
  /** The program's user in its own eyes, by default the cell's. Outside it is the cell's in any case. */
  readonly user?: { readonly uid: number; readonly gid: number }
  readonly workingFolder?: string
  /** Folders in memory that the program may write to; there are always /tmp, /run and /dev/shm. */
  readonly memory?: readonly { readonly path: string; readonly bytes: number }[]
  /**
   * File systems of ext4 in files of the machine: an absolute path inside, and the file. The mount, and the loop device below
   * it, are those of the cell alone and end with its last process. Files become its user's. At the level `root` alone.
   */
  readonly volumes?: readonly CellVolume[]
  /** The name of the cell by default. */
  readonly hostname?: string
  /**
   * The TCP port of the cell's own network that its socket leads to, from the moment on at which the program listens.
   * Without one the program gets the listening socket as descriptor 4, and its config on 3.
   */
  readonly port?: number
  readonly outlet?: CellOutlet
}

export type CellVolume = { readonly path: string; readonly image: string }

/** Ports of the cell's own loopback that lead out of it, by its pid 1: to a socket that its program cannot see. */
export type CellOutlet = {
  /** The unix socket outside, whose group is one of `calls`. */
  readonly socket: string
  /**
   * Each connection begins with the line `<ticket> <port>`. The program in the cell cannot read it. A spare has none: its
   * connections wait for that of the cell that it becomes.
   */
  readonly ticket?: string
  readonly ports: readonly OutletPort[]
  /** Names of the cell's loopback beside localhost. */
  readonly hosts: readonly string[]
}
export type OutletPort = {
  readonly port: number
  /** Sent on connections that nobody takes outside; may be empty. */
  readonly refusal: string
}

/** Processes that another program starts. Control groups of version 2 count, freeze and kill them. */
export type CellContainer = {
  /** The TCP port, of a network of its own, that the cell's socket leads to once the program listens. */
  readonly port: number
  readonly outlet?: CellOutlet
  /** Begins a life. */
  readonly begin: (place: ContainerPlace) => StartedLife
  /** The groups of version 1 that limit the processors of the processes in `group` now. */
  readonly cpuGroups: (group: string) => readonly string[]
  /** Removes what is left behind the last life. */
  readonly remove: (group: string) => Promise<void>
}

export type ContainerPlace = {
  /** All processes must be in this group, or in groups below it. */
  readonly group: string
  /** The user of the cell, which no other cell has. */
  readonly uid: number
  /** To be called with the first process, before anything is expected of it. Throws where it is not in the group. */
  readonly began: (pid: number) => void
}

export type LifeOutputs = { readonly stdout: Readable; readonly stderr: Readable }

/** A life of a cell that has begun. */
export interface StartedLife extends LifeOutputs {
  /** The leader of its processes; undefined before there is one. */
  readonly pid: number | undefined
  /** The outputs of its program, where the others are those of its start alone. Never rejects. */
  readonly program?: Promise<LifeOutputs>
  /** Its end, also of one that could not be started. Never rejects. */
  readonly exit: Promise<Omit<Exit, 'at' | 'stuck'>>
  /** SIGKILL to the leader, or the end of a start: it may not have joined its group yet. */
  kill(): void
  /** Gives the program its config, once, and the pid 1 of a spare its ticket. Until then both wait. */
  readonly configure?: (config: unknown, ticket: string | undefined) => void
}

/**
 * Asked again and again. A cell is ended when `look` resolves with words, which name the fault, or when nothing
 * answered for `silentMs`.
 */
export type Watch = {
  readonly look: (socket: string, signal: AbortSignal) => Promise<string | undefined>
  readonly everyMs: number
  readonly silentMs: number
}

/** A line of a cell's output without its newline; longer ones are cut into pieces of 8 KiB. */
export type OutputLine = { readonly stream: 'stdout' | 'stderr'; readonly text: string }

/** The isolation, metering and limits of this machine, and in words why not better. A probe chooses once. */
export type Isolation = {
  /** root: own uid, namespaces, no capabilities. userns: namespaces only. plain: neither. */
  readonly level: 'root' | 'userns' | 'plain'
  /** True where each cell has a uid of its own. */
  readonly uids: boolean
  readonly meter: 'cgroup-v2' | 'process-tree'
  readonly memoryLimit: 'cgroup-v2' | 'cgroup-v1' | 'none'
  readonly processLimit: 'cgroup-v2' | 'cgroup-v1' | 'rlimit' | 'none'
  readonly cpuLimit: 'cgroup-v2' | 'cgroup-v1' | 'none'
  /** True where the system calls of tenants' code are filtered. */
  readonly filtersSyscalls: boolean
  /** True where cells can have a root folder of their own. */
  readonly admitsTenants: boolean
  readonly reasons: readonly string[]
}

export type CellState = 'starting' | 'ready' | 'waiting' | 'stopping' | 'stopped'
export type Exit = {
  /** As of wait(2). A program that ended with 128 + n through our init counts as killed by signal n. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly at: number
  /** Why its supervisor ended it, in words, when its watch found it stuck. */
  readonly stuck?: string
  /** Its supervisor ended it: it did not answer in the time of a start. */
  readonly silent?: true
  /** The kernel ended it: its memory limit was reached. */
  readonly outOfMemory?: true
}

/** A life of a cell that is over. */
export type EndedLife = {
  readonly hasAnswered: boolean
  /** The last lines of its output. */
  readonly lastLines: readonly string[]
}

/** Why a running cell is slowed: its energy is short, or it fills its room faster than the agent can look. */
export type CpuCause = 'energy' | 'size'

export interface Cell {
  readonly spec: CellSpec
  readonly state: CellState
  /** Absolute path of the unix socket. */
  readonly socket: string
  /** The leader of its process tree, while it lives; killing it kills the tree. */
  readonly pid: number | undefined
  /** CPU of the whole tree since the cell was first started, dead processes and earlier lives included. */
  cpuNs(): bigint
  /** Resolves when it answers; rejects when it is stopped first. */
  ready(signal?: AbortSignal): Promise<void>
  freeze(frozen: boolean): Promise<void>
  /** Its processes now, in the numbers of the machine. */
  processes(): readonly number[]
  /**
   * The limit in thousandths of a processor from now on, never above that of its spec; undefined lifts the limit of
   * this cause. The least holds. For cells of accounts, where the machine can limit processors (`Isolation.cpuLimit`).
   */
  limitCpu(cause: CpuCause, milli: number | undefined): void
  /**
   * Signal, grace, kill of the whole tree; resolves when nothing of it is left. No restart follows. The
   * grace is the one of its spec, or a shorter one.
   */
  stop(graceMs?: number): Promise<void>
  /** SIGKILL to the whole tree, now. A cell that is not being stopped starts again. */
  kill(): void
  /** The ends of its lives, newest last; at most 20 are kept. */
  readonly exits: readonly Exit[]
  /** The last error that the program logged, in words; undefined when it logged none. */
  readonly lastError: string | undefined
}

export interface Cells {
  /** The isolation of this machine, printed at start. */
  readonly level: Isolation['level']
  /** The source of CPU figures. */
  readonly meter: Isolation['meter']
  /** The whole answer of the probe, to print. */
  readonly isolation: Isolation
  /**
   * Starts a cell and keeps it running; resolves at once, `ready()` tells when it answers. A name
   * can be started again after its stop().
   */
  start(spec: CellSpec): Promise<Cell>
  /**
   * Makes the process of a spare that of another cell, which is ready at once; undefined where the spare does not answer
   * any more. The CPU of the process so far stays the spare's, which is stopped; its CPU from now on is the cell's. Folders, groups and limits stay, and later lives of the cell start as the spare did.
   */
  assign(spare: Cell, spec: CellSpec): Cell | undefined
  list(): readonly Cell[]
  /** The folders that cells of a name owned are removed: its uid may become another's. */
  disown(name: string): Promise<void>
  /**
   * Cell → the pid of its program, which is inside of the programs that start and isolate it; absent before it is
   * started.
   */
  programs(): ReadonlyMap<Cell, number>
  /** Called at every change of a cell's state. */
  onChange(listener: (cell: Cell) => void): void
  /** Stops what still runs, all at once, and gives up the data folder's lock and the uid range. */
  close(graceMs?: number): Promise<void>
}
