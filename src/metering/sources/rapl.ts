// RAPL through /sys/class/powercap: energy of the processor packages, counted by the processor. Only
// package domains are added up: core, uncore and dram lie inside or beside them, psys holds them, and
// intel-rapl-mmio shows the same package again. Neither memory nor the losses of the power supply are in.
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock, type Clock } from '#base/clock.ts'
import { messageOf } from '#base/errors.ts'
import { add, nj, type Nj } from '#base/units.ts'
import { unavailable, type MeterSource, type Reading, type Unavailable } from './source.ts'

const NJ_PER_MICROJOULE = 1000n
const COUNTER_BYTES = 32
// The least published wrap is 262 kJ, 22 minutes at 200 W: after a longer silence a delta is ambiguous.
const SILENCE_MS_MAX = 300_000
// Where the kernel states no limit: more than any single package sold draws.
const PACKAGE_MILLIWATTS = 500_000n
const CEILING_FACTOR = 3n
// Declared as the field declares it for package energy; a comparison with a wall meter replaces it.
const BAND_PCT = 5

type Domain = {
  readonly fd: number
  /** The counter's largest value: after it comes 0. */
  readonly rangeUj: bigint
  readonly maxMilliwatts: bigint
  readonly lastUj: bigint
}

export type RaplOptions = {
  /** Where sysfs is mounted; a fixture tree in tests. */
  readonly sysfsRoot?: string
  readonly bandPct?: number
  readonly clock?: Clock
}

/** The processor's own counters; unavailable with a reason where they are missing or forbidden. */
export function createRapl(options: RaplOptions = {}): MeterSource {
  const folder = powercapOf(options.sysfsRoot ?? '/sys')
  const clock = options.clock ?? systemClock
  let domains: readonly Domain[] = []
  let totalNj = nj(0n)
  let readMs = clock.monotonicMs()

  const close = () => {
    for (const domain of domains) closeSync(domain.fd)
    domains = []
  }
  const count = () => {
    const now = domains.map((domain) => ({ ...domain, lastUj: readCounter(domain.fd) }))
    for (const [index, domain] of domains.entries())
      totalNj = add(totalNj, energySince(domain, now[index]?.lastUj ?? domain.lastUj))
    domains = now
  }
  const look = (): Reading | Unavailable => {
    const silentMs = clock.monotonicMs() - readMs
    readMs += silentMs
    if (silentMs > SILENCE_MS_MAX) {
      close()
      return unavailable(
        `not read for ${Math.round(silentMs / 1000)} s, the counter may have wrapped`,
      )
    }
    // Opened at the first read and after a loss, so that rights granted later are noticed.
    if (domains.length === 0) domains = openPackages(folder)
    else count()
    if (domains.length === 0) return unavailable('the kernel shows no RAPL package domain')
    return { kind: 'counter', totalNj }
  }
  return {
    name: 'rapl',
    method: 'rapl',
    bandPct: options.bandPct ?? BAND_PCT,
    ceilingMilliwatts: () =>
      domains.reduce((total, domain) => total + CEILING_FACTOR * domain.maxMilliwatts, 0n),
    read: async () => {
      try {
        return look()
      } catch (error) {
        close()
        return unavailable(reasonOf(error))
      }
    },
    close: async () => close(),
  }
}

/** True when the kernel shows RAPL at all: without it there is nothing to fall back from. */
export const hasRapl = (sysfsRoot: string): boolean => zonesOf(powercapOf(sysfsRoot)).length > 0

/** Energy since the last poll; a counter that is behind it has wrapped, once. */
function energySince({ lastUj, rangeUj }: Domain, nowUj: bigint): Nj {
  const microjoules = nowUj >= lastUj ? nowUj - lastUj : nowUj + rangeUj - lastUj
  return nj(microjoules * NJ_PER_MICROJOULE)
}

/** One domain per package; the MSR interface before the mmio one, which shows the same counter. */
function openPackages(folder: string): Domain[] {
  const zones = zonesOf(folder).toSorted(
    (a, b) => Number(a.includes('mmio')) - Number(b.includes('mmio')),
  )
  const packages = new Map<string, Domain>()
  try {
    for (const zone of zones) {
      const path = join(folder, zone)
      const name = textOf(join(path, 'name'))
      if (/^package-\d+/.test(name) && !packages.has(name)) packages.set(name, openDomain(path))
    }
  } catch (error) {
    for (const domain of packages.values()) closeSync(domain.fd)
    throw error
  }
  return [...packages.values()]
}

function openDomain(path: string): Domain {
  const rangeUj = integerOf(textOf(join(path, 'max_energy_range_uj')))
  const maxMilliwatts = maxMilliwattsOf(path)
  const fd = openSync(join(path, 'energy_uj'), 'r')
  try {
    return { fd, rangeUj, maxMilliwatts, lastUj: readCounter(fd) }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** The package's thermal design power, where the kernel states one. */
function maxMilliwattsOf(path: string): bigint {
  const file = join(path, 'constraint_0_max_power_uw')
  const milliwatts = existsSync(file) ? integerOf(textOf(file)) / 1000n : 0n
  return milliwatts > 0n ? milliwatts : PACKAGE_MILLIWATTS
}

const powercapOf = (sysfsRoot: string) => join(sysfsRoot, 'class/powercap')

const zonesOf = (folder: string): string[] =>
  (existsSync(folder) ? readdirSync(folder) : []).filter((zone) =>
    /^intel-rapl(-mmio)?:\d+$/.test(zone),
  )

const textOf = (path: string) => readFileSync(path, 'latin1').trim()

function readCounter(fd: number): bigint {
  const bytes = Buffer.alloc(COUNTER_BYTES)
  return integerOf(bytes.toString('latin1', 0, readSync(fd, bytes, 0, COUNTER_BYTES, 0)).trim())
}

function integerOf(text: string): bigint {
  // BigInt('') is 0n, and an empty file is not 0 J.
  if (!/^\d+$/.test(text)) throw new RangeError(`Not a RAPL figure: "${text}"`)
  return BigInt(text)
}

function reasonOf(error: unknown): string {
  // Readable by root only since CVE-2020-8694 (PLATYPUS).
  if (error instanceof Error && 'code' in error && error.code === 'EACCES')
    return `EACCES: the RAPL counters are readable by root only (${error.message})`
  return messageOf(error)
}
