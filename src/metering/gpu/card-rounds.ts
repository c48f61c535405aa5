// Readings of all cards of a machine, round by round: a round has one line of each card. The rounds give the power
// of a window, the idle power and the busy time.
import type { CardReading } from './card-line.ts'

/** A round of the whole machine: the sums of its cards. */
type CardRound = {
  readonly atMs: number
  readonly milliwatts: bigint
  /** Absent where a card does not tell: then no use by others can be seen. */
  readonly busyPercent?: bigint
}

export type RoundsPower =
  | { readonly kind: 'power'; readonly milliwatts: bigint }
  | { readonly kind: 'unavailable'; readonly reason: string }

export interface CardRounds {
  /** A line that came at this time of the monotonic clock. */
  add(reading: CardReading, atMs: number): void
  /** Takes no more until the next whole round: the program of the lines has ended. */
  restart(): void
  /** Mean power since the last call, and only of rounds that are no older than that; then they are forgotten. */
  take(nowMs: number): RoundsPower
  /** A program came to the cards or left them: their idle power is another one from now on. */
  forgetIdle(): void
  /** The power of the newest round. */
  readonly milliwatts: bigint | undefined
  /**
   * The power of the cards while nothing runs on them: see QUIET_MS. After forgetIdle() all power counts as idle until
   * the cards are quiet, at most for UNKNOWN_MS_MAX. Then the idle power is the least power since that call: steady load
   * is billed too little rather than too much.
   */
  readonly idleMilliwatts: bigint | undefined
  /** Cumulative: time in which something ran, of all cards together. */
  readonly busyNs: bigint
  readonly lastMs: number | undefined
}

/** A reading is the mean of a second: those a second apart have every moment once. */
const MEAN_MS = 1000
/**
 * After that long without any use the power is the idle power. The mean falls a second late, and a card keeps its clocks
 * up for a while after work: that makes the figure too high rather than too low, and the operator pays for idle power.
 */
const QUIET_MS = 2000
/**
 * The driver reports use up to a second late (`nvidia-smi --help-query-gpu` on utilization.gpu): a quiet reading counts
 * when the cards were quiet for that long behind it. An H200 of 123 W idle began a load with a reading of 127 W and 0 %.
 */
const USE_LATE_MS = 1000
/** Busy time between two rounds that are further apart than this is not known. */
const GAP_MS_MAX = 3000
/**
 * A context of CUDA alone raised the idle power of an H200 from 77 to 118 W. Billed to the first requests behind the
 * start of a model, that was 20 times their own power.
 */
const UNKNOWN_MS_MAX = 30_000
const ROUNDS_MAX = 600

/** `cards` are the ids of all cards, in any order. */
export function createCardRounds(cards: ReadonlySet<string>, staleMs = 2000): CardRounds {
  let open = new Map<string, CardReading>()
  let rounds: CardRound[] = []
  let newest: CardRound | undefined
  let doubt: string | undefined
  let busyNs = 0n
  const idle = createIdlePower()

  const close = (atMs: number) => {
    const readings = [...open.values()]
    open = new Map()
    doubt = doubtOf(cards, readings)
    if (doubt !== undefined) return
    const round = roundOf(readings, atMs)
    const sinceMs = newest === undefined ? 0 : atMs - newest.atMs
    if (round.busyPercent !== undefined && sinceMs <= GAP_MS_MAX)
      busyNs += (round.busyPercent * BigInt(Math.round(sinceMs * 1e6))) / 100n
    newest = round
    idle.learn(round)
    rounds.push(round)
    if (rounds.length > ROUNDS_MAX) rounds.shift()
  }
  return {
    add(reading, atMs) {
      if (open.has(reading.uuid)) close(atMs)
      open.set(reading.uuid, reading)
      if (open.size === cards.size && [...cards].every((uuid) => open.has(uuid))) close(atMs)
    },
    restart() {
      open = new Map()
      rounds = []
      newest = undefined
      idle.restart()
    },
    take(nowMs) {
      const taken = rounds
      rounds = []
      if (doubt !== undefined) return { kind: 'unavailable', reason: doubt }
      const last = taken.at(-1)
      if (last === undefined || nowMs - last.atMs > staleMs)
        return { kind: 'unavailable', reason: `no reading for ${staleMs} ms` }
      return { kind: 'power', milliwatts: meanOf(apart(taken)) }
    },
    forgetIdle: () => idle.forget(),
    get milliwatts() {
      return newest?.milliwatts
    },
    get idleMilliwatts() {
      return idle.milliwatts(newest)
    },
    get busyNs() {
      return busyNs
    },
    get lastMs() {
      return newest?.atMs
    },
  }
}

/** The idle power, from rounds in their order. */
function createIdlePower() {
  let isForgotten = false
  let quietFromMs: number | undefined
  /** Quiet rounds that a late use may still belong to. */
  let doubtful: CardRound[] = []
  let unknownFromMs: number | undefined
  let leastMilliwatts: bigint | undefined
  let quietMilliwatts: bigint | undefined
  const endQuiet = () => {
    quietFromMs = undefined
    doubtful = []
  }
  const learnQuiet = (round: CardRound) => {
    const { atMs } = round
    quietFromMs ??= atMs
    if (atMs - quietFromMs >= QUIET_MS) doubtful.push(round)
    const sure = doubtful.findLastIndex((one) => atMs - one.atMs >= USE_LATE_MS)
    if (sure < 0) return
    quietMilliwatts = doubtful[sure]?.milliwatts
    doubtful = doubtful.slice(sure + 1)
    unknownFromMs = undefined
  }
  return {
    learn(round: CardRound) {
      const { atMs, milliwatts, busyPercent } = round
      if (isForgotten) {
        isForgotten = false
        unknownFromMs = atMs
        endQuiet()
        leastMilliwatts = undefined
        quietMilliwatts = undefined
      }
      // The readings of a second are means with power of before.
      const isMixed = unknownFromMs !== undefined && atMs - unknownFromMs < MEAN_MS
      if (!isMixed && (leastMilliwatts === undefined || milliwatts < leastMilliwatts))
        leastMilliwatts = milliwatts
      if (busyPercent === 0n) learnQuiet(round)
      else endQuiet()
    },
    restart: endQuiet,
    // Takes effect with the next round: while the program of the lines is away, there is none.
    forget: () => void (isForgotten = true),
    milliwatts(newest: CardRound | undefined): bigint | undefined {
      const isUnknown =
        newest !== undefined &&
        (isForgotten ||
          (unknownFromMs !== undefined && newest.atMs - unknownFromMs < UNKNOWN_MS_MAX))
      return isUnknown ? newest.milliwatts : (quietMilliwatts ?? leastMilliwatts)
    },
  }
}

/** The newest round, and before it those that are a second apart: each is the mean of the second before it. */
function apart(rounds: readonly CardRound[]): CardRound[] {
  const kept: CardRound[] = []
  for (const round of rounds.toReversed())
    if ((kept.at(-1)?.atMs ?? Infinity) - round.atMs >= MEAN_MS * NEARLY) kept.push(round)
  return kept
}
/** Rounds come a few milliseconds early or late. */
const NEARLY = 0.95

const meanOf = (rounds: readonly CardRound[]): bigint =>
  rounds.reduce((sum, { milliwatts }) => sum + milliwatts, 0n) / BigInt(rounds.length)

function doubtOf(cards: ReadonlySet<string>, readings: readonly CardReading[]): string | undefined {
  const stranger = readings.find(({ uuid }) => !cards.has(uuid))
  if (stranger !== undefined) return `${stranger.uuid} was not there at the start`
  const missing = [...cards].find((card) => readings.every(({ uuid }) => uuid !== card))
  if (missing !== undefined) return `${missing} is gone`
  const blind = readings.find(({ milliwatts }) => milliwatts === undefined)
  return blind === undefined ? undefined : `${blind.name} gives no power.draw.average`
}

function roundOf(readings: readonly CardReading[], atMs: number): CardRound {
  const milliwatts = readings.reduce((sum, reading) => sum + (reading.milliwatts ?? 0n), 0n)
  if (readings.some(({ busyPercent }) => busyPercent === undefined)) return { atMs, milliwatts }
  const busyPercent = readings.reduce((sum, reading) => sum + (reading.busyPercent ?? 0n), 0n)
  return { atMs, milliwatts, busyPercent }
}
