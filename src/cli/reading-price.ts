// The price of reading the live figures, by the stream itself: a command without an end says what it costs.
import type { LiveMessage } from '#contract/live/live.ts'

/** The opening of a stream costs more than what follows: less time than this tells no price. */
const READ_MS_MIN = 10_000
const MINUTE_MS = 60_000n
const NJ_PER_MJ = 1e6

type LookMessage = Pick<LiveMessage, 'at' | 'whole' | 'looking_nj'>

/** Answers with the sentence once, at the message by which a stream has gone on long enough; else undefined. */
export function createReadingPrice(): (message: LookMessage) => string | undefined {
  let first: LookMessage | undefined
  let isTold = false
  return (message) => {
    if (isTold) return undefined
    if (first === undefined || message.whole === true) first = message
    const elapsedMs = Date.parse(message.at) - Date.parse(first.at)
    if (elapsedMs < READ_MS_MIN) return undefined
    isTold = true
    const spentNj = BigInt(message.looking_nj) - BigInt(first.looking_nj)
    const mJ = Number((spentNj * MINUTE_MS) / BigInt(elapsedMs)) / NJ_PER_MJ
    return `reading costs about ${mJ < 10 ? mJ.toFixed(1) : Math.round(mJ)} mJ a minute; ^C ends it`
  }
}
