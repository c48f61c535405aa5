// The agent's knowledge of its node: the meter, the cells, the disks, the versions.
import { readFileSync, statfsSync } from 'node:fs'
import { packageVersion } from '#base/package-version.ts'
import type { Cell } from '#cells/cell.ts'
import { CELLS_MAX, type NodeFacts } from '#contract/operator/operator.ts'
import type { AgentCore } from '#node/agent-part.ts'

const NO_WATTS = '0.000'
const KIB_BYTES = 1024

type CellShare = NonNullable<ReturnType<AgentCore['meter']['status']>['now']>['split'][number]

/** The facts of this moment. */
export function nodeFactsOf({ config, cells, meter, data }: NodeCore): NodeFacts {
  const status = meter.status()
  const programs = cells.programs()
  const shares = new Map((status.now?.split ?? []).map((share) => [share.name, share]))
  return {
    at: new Date().toISOString(),
    version: packageVersion(),
    node_version: process.version,
    region: config.region,
    isolation: { level: cells.isolation.level, reasons: [...cells.isolation.reasons] },
    meter: meterOf(status, sensorWords(status)),
    gpu: status.gpu === undefined ? null : gpuOf(status.gpu),
    cells: cells
      .list()
      .slice(0, CELLS_MAX)
      .map((cell) => cellOf(cell, programs.get(cell), shares.get(cell.spec.name))),
    disks: [diskOf(data.path)],
  }
}
type NodeCore = Pick<AgentCore, 'config' | 'cells' | 'meter' | 'data'>

type AnyMeter = Omit<ReturnType<AgentCore['meter']['status']>, 'carbon' | 'indirect' | 'gpu'>

function meterOf(status: AnyMeter, reason: string): NodeFacts['meter'] {
  const { now, model } = status
  return {
    name: status.meter,
    method: (now?.method ?? null) as NodeFacts['meter']['method'],
    band_pct: now?.band_pct ?? model.band_pct,
    reason,
    watts: now?.watts ?? NO_WATTS,
    idle_watts: now?.idle_watts ?? NO_WATTS,
    billed_watts: now?.billed_watts ?? NO_WATTS,
    busy_cpus: now?.busy_cpus ?? NO_WATTS,
    cpus: model.cpus,
    pue: status.pue,
    tariff_j_per_cpu_s: status.tariff_j_per_cpu_s,
    windows: status.windows,
    windows_fallback: status.windows_fallback,
    reading_nj: status.reading_nj,
    true_up: status.true_up,
  }
}

/** The sensor, or why the model, and of which processor. */
const sensorWords = ({ now, model }: AnyMeter): string =>
  now === undefined || now.method === 'model'
    ? `${now?.fallback ?? 'no sensor is read'}; model of the processor: ${model.basis}`
    : 'a sensor is read'

const gpuOf = (status: AnyMeter): NodeFacts['gpu'] => ({
  ...meterOf(status, status.now?.fallback ?? 'nvidia-smi is read'),
  cards: status.model.basis,
  shares: (status.now?.split ?? []).slice(0, CELLS_MAX),
})

function cellOf(
  cell: Cell,
  pid: number | undefined,
  share: CellShare | undefined,
): NodeFacts['cells'][number] {
  const { payer } = cell.spec
  return {
    name: cell.spec.name,
    state: cell.state,
    pid: pid ?? null,
    cpu_ns: cell.cpuNs().toString(),
    memory_bytes: pid === undefined ? null : residentBytes(pid),
    watts: share?.watts ?? NO_WATTS,
    idle_watts: share?.idle_watts ?? NO_WATTS,
    payer: share?.payer ?? (payer.kind === 'account' ? payer.account : payer.kind),
    restarts: cell.exits.length,
  }
}

/** Null where the process has ended meanwhile. */
function residentBytes(pid: number): number | null {
  try {
    const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kib === undefined ? null : Number(kib) * KIB_BYTES
  } catch {
    return null
  }
}

function diskOf(folder: string): NodeFacts['disks'][number] {
  const { bavail, bsize, blocks } = statfsSync(folder)
  return { folder, size_bytes: blocks * bsize, free_bytes: bavail * bsize }
}
