// Workloads as cells of this machine: the root folder of an image, read-only, with a uid, namespaces and limits of its own,
// and a network that only the ingress reaches.
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { messageOf } from '#base/errors.ts'
import type { CellOutlet, Cells, CellSpec } from '#cells/cell.ts'
import { fault } from '#contract/errors.ts'
import { pruneImages } from '#images/prune.ts'
import { EGRESS_SOCKETS, PROXY_VARIABLES, type NodeEgress } from '#node/egress.ts'
import { INSTANCE_SOCKETS } from '#node/ingress.ts'
import { workloadCellOf, workloadUserOf } from './cell-name.ts'
import { endOf } from './cell-end.ts'
import type { WorkloadDriver, WorkloadEvents, WorkloadSpec } from './driver.ts'
import { createTrial, type Trial } from './trial.ts'
import { pullImage, rootOf, type NodePulls } from './pull-image.ts'
import { lookAt } from './readiness.ts'

const SOCKET = 'http.sock'
const PROCESSES_MAX = 512
const FILES_MAX = 4096
const STOP_MS = 10_000
const SECONDS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]
/** Waits after ends in a row; a life of ten minutes begins anew. */
const RESTART = { delaysMs: SECONDS.map((s) => s * 1000), steadyMs: 600_000 }
/** Health pages in a row that fail before an instance is ended. */
const FAILURES_MAX = 3
/** The trial is over first: it says what is open. */
const READY_MORE_MS = 5000

export function createCellDriver(
  deps: NodePulls & {
    readonly programs: Cells['programs']
    readonly egress: NodeEgress
    /** The longest time until an instance is ready. */
    readonly readyMs: number
  },
): WorkloadDriver {
  const { cells, egress, admit, folder, readyMs } = deps
  let pulls = 0
  return {
    async pull(...wanted) {
      pulls++
      try {
        return await pullImage(deps, ...wanted)
      } finally {
        pulls--
      }
    },
    has: (digest) => existsSync(rootOf(folder, digest)),
    async start(spec, events) {
      const name = workloadCellOf(spec)
      await admit(name, spec.account)
      // Ports that the image may listen on stay its own.
      const taken = [spec.port, ...spec.config.ports]
      const outlet = await egress.outletOf({ name, account: spec.account }, taken)
      const trial = createTrial(spec, deps)
      const root = rootOf(folder, spec.digest)
      const cell = await cells.start(cellOf(spec, { root, outlet, events, trial, readyMs }))
      return {
        address: `unix:${cell.socket}`,
        ready: (signal) => trial.ready(cell, signal),
        end: (cause) => cell.stop(cause === 'balance' || cause === 'budget' ? 0 : undefined),
      }
    },
    async prune(keep) {
      // A pull adds to the same folder.
      if (pulls > 0) return
      await pruneImages(folder, keep)
    },
  }
}

function cellOf(
  spec: WorkloadSpec,
  given: {
    readonly root: string
    readonly outlet: CellOutlet
    readonly events: WorkloadEvents
    readonly trial: Trial
    readonly readyMs: number
  },
): CellSpec {
  const { config, health, port } = spec
  const look = lookAt(health)
  const { trial, events } = given
  return {
    name: workloadCellOf(spec),
    user: workloadUserOf(spec.id),
    argv: argvOf(spec),
    environment: environmentOf(spec),
    config: {},
    root: {
      image: given.root,
      workingFolder: config.folder,
      hostname: spec.name,
      port,
      outlet: given.outlet,
    },
    reads: [],
    writes: [],
    socketGroup: INSTANCE_SOCKETS,
    calls: [EGRESS_SOCKETS],
    limits: {
      memoryBytes: spec.memoryBytes,
      cpuMilli: spec.cpuMilli,
      processes: PROCESSES_MAX,
      files: FILES_MAX,
    },
    output: ({ stream, text }) => {
      trial.wrote(text)
      events.line(stream, text)
    },
    ended: (exit) => {
      const end = endOf(exit)
      trial.ended(end)
      events.ended(end)
    },
    ready: {
      probe: (socket, signal) =>
        look(socket, signal).catch((error: unknown) => {
          trial.saw(messageOf(error))
          throw error
        }),
      timeoutMs: given.readyMs + READY_MORE_MS,
    },
    socket: SOCKET,
    ...(health !== null && {
      watch: {
        look: async (socket, signal) => void (await look(socket, signal)),
        everyMs: health.intervalMs,
        silentMs: FAILURES_MAX * health.intervalMs,
      },
    }),
    stop: { signal: signalOf(config.stopSignal), graceMs: STOP_MS },
    restart: RESTART,
    payer: { kind: 'account', account: spec.account },
  }
}

/** Later ones come first: those of the account before those of the image, and both before ours. */
const environmentOf = ({ config, env, port }: WorkloadSpec): CellSpec['environment'] => ({
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/',
  ...PROXY_VARIABLES,
  ...Object.fromEntries(config.env.map(assignment)),
  ...env,
  PORT: String(port),
})

/** As the image has it, or the account: its command replaces both words of the image. */
function argvOf({ command, config }: WorkloadSpec): CellSpec['argv'] {
  const [program, ...rest] = command ?? [...config.entrypoint, ...config.command]
  if (program === undefined)
    throw fault(
      'workload_failed',
      'Could not start the workload: neither it nor its image has a command',
    )
  return [program, ...rest]
}

const assignment = (text: string): [string, string] => {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/** A name as images have it: `SIGTERM`, `TERM` or a number. */
function signalOf(text: string): NodeJS.Signals {
  const name = `SIG${text.toUpperCase().replace(/^SIG/, '')}`
  return isSignal(name) ? name : 'SIGTERM'
}

const isSignal = (name: string): name is NodeJS.Signals => Object.hasOwn(constants.signals, name)
