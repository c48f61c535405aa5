// An instance as a cell: what drivers share. The cell is checked, restarted, metered and paid for as any other.
import { messageOf } from '#base/errors.ts'
import type { Cell, CellOutlet, Cells, CellSpec } from '#cells/cell.ts'
import { EGRESS_SOCKETS, type NodeEgress } from '#node/egress.ts'
import { INSTANCE_SOCKETS } from '#node/ingress.ts'
import { endOf } from './cell-end.ts'
import { workloadCellOf, workloadUserOf } from './cell-name.ts'
import type { RunningWorkload, WorkloadEvents, WorkloadSpec } from './driver.ts'
import type { NodeImages } from './node-images.ts'
import { signalOf } from './program.ts'
import { readinessCheck } from './readiness.ts'
import { createTrial, type Trial } from './trial.ts'

export const INSTANCE_LIMITS = { processes: 512, files: 4096 } as const

const SOCKET = 'http.sock'
const STOP_MS = 10_000
const SECONDS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]
/** Waits after ends in a row; a life of ten minutes begins anew. */
const RESTART = { delaysMs: SECONDS.map((s) => s * 1000), steadyMs: 600_000 }
/** Health pages in a row that fail before an instance is ended. */
const FAILURES_MAX = 3
/** The trial is over first: it reports the open ports. */
const READY_MORE_MS = 5000

export type InstanceDeps = {
  readonly cells: Pick<Cells, 'start' | 'programs'>
  readonly egress: Pick<NodeEgress, 'outletOf'>
  readonly admit: (cell: string, account: string) => Promise<void>
  readonly images: Pick<NodeImages, 'hold'>
  /** The longest time until an instance is ready. */
  readonly readyMs: number
}

/** The part of a driver, given the way out of the instance. */
export type InstanceKind = (
  outlet: CellOutlet,
) => Pick<CellSpec, 'argv' | 'environment'> & Partial<Pick<CellSpec, 'root' | 'container'>>

/** Its image stays until its end. Rejects where its account cannot pay, or its budget is used up. */
export async function startInstance(
  spec: WorkloadSpec,
  kind: InstanceKind,
  events: WorkloadEvents,
  { cells, egress, admit, images, readyMs }: InstanceDeps,
): Promise<RunningWorkload> {
  using starting = new DisposableStack()
  starting.use(images.hold(spec))
  const name = workloadCellOf(spec)
  // Ports that the image may listen on stay its own.
  const taken = [spec.port, ...spec.config.ports]
  const outlet = await egress.outletOf({ name, account: spec.account }, taken)
  await admit(name, spec.account)
  const trial = createTrial(spec, { readyMs, programs: () => cells.programs() })
  const cell: Cell = await cells.start(cellOf(spec, kind(outlet), { events, trial, readyMs }))
  const image = starting.move()
  return {
    address: `unix:${cell.socket}`,
    cell: name,
    ready: (signal) => trial.ready(cell, signal),
    async end(cause) {
      await cell.stop(cause === 'balance' || cause === 'budget' ? 0 : undefined)
      image.dispose()
    },
  }
}

function cellOf(
  spec: WorkloadSpec,
  kind: ReturnType<InstanceKind>,
  given: { readonly events: WorkloadEvents; readonly trial: Trial; readonly readyMs: number },
): CellSpec {
  const { config, health } = spec
  const { trial, events } = given
  const look = readinessCheck(health)
  return {
    ...kind,
    name: workloadCellOf(spec),
    user: workloadUserOf(spec.id),
    config: {},
    reads: [],
    writes: [],
    socketGroup: INSTANCE_SOCKETS,
    socket: SOCKET,
    calls: [EGRESS_SOCKETS],
    limits: { ...INSTANCE_LIMITS, memoryBytes: spec.memoryBytes, cpuMilli: spec.cpuMilli },
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
