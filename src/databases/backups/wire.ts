// Messages of the streaming replication protocol (PostgreSQL 16, chapters 55.4 and 55.7), and positions in the log.

export type LogMessage =
  | {
      readonly kind: 'log'
      readonly at: bigint
      readonly bytes: Buffer
      /** The end of the server's log. */
      readonly written: bigint
      /** The server's clock gives it. */
      readonly sentMs: number
    }
  | { readonly kind: 'alive'; readonly wantsReply: boolean }

const LOG_HEADER = 25
const POSTGRES_EPOCH_MS = 946_684_800_000n

/** A message of START_REPLICATION; undefined for a kind that later servers may have. */
export function logMessage(message: Buffer): LogMessage | undefined {
  const kind = String.fromCharCode(message[0] ?? 0)
  if (kind === 'w')
    return {
      kind: 'log',
      at: message.readBigUInt64BE(1),
      written: message.readBigUInt64BE(9),
      sentMs: Number(message.readBigInt64BE(17) / 1000n + POSTGRES_EPOCH_MS),
      bytes: message.subarray(LOG_HEADER),
    }
  if (kind === 'k') return { kind: 'alive', wantsReply: message[17] === 1 }
  return undefined
}

/** Tells the server that everything before a position is stored. */
export function storedTo(position: bigint, nowMs: number): Buffer {
  const message = Buffer.alloc(34)
  message.write('r')
  for (const at of [1, 9, 17]) message.writeBigUInt64BE(position, at)
  message.writeBigInt64BE((BigInt(nowMs) - POSTGRES_EPOCH_MS) * 1000n, 25)
  return message
}

export type CopyMessage =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'progress'; readonly doneBytes: number }

/** A message of BASE_BACKUP; undefined for the beginning of an archive. */
export function copyMessage(message: Buffer): CopyMessage | undefined {
  const kind = String.fromCharCode(message[0] ?? 0)
  if (kind === 'd') return { kind: 'bytes', bytes: message.subarray(1) }
  if (kind === 'p') return { kind: 'progress', doneBytes: Number(message.readBigUInt64BE(1)) }
  return undefined
}

/** A position as PostgreSQL writes it, such as 0/1A2B3C4. */
export function positionOf(text: string): bigint {
  const [high = '', low = ''] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`)
}

export const positionText = (position: bigint): string =>
  `${(position >> 32n).toString(16)}/${(position & 0xffff_ffffn).toString(16)}`.toUpperCase()

/** Clusters of databases have segments of 1 MB. */
export const SEGMENT_BYTES = 1_048_576
const SEGMENTS_OF_HIGH = 0x1_0000_0000n / BigInt(SEGMENT_BYTES)

const hex = (value: bigint): string => value.toString(16).padStart(8, '0').toUpperCase()

/** The name of the file that has a position. */
export function segmentName(timeline: number, position: bigint): string {
  const number = position / BigInt(SEGMENT_BYTES)
  return hex(BigInt(timeline)) + hex(number / SEGMENTS_OF_HIGH) + hex(number % SEGMENTS_OF_HIGH)
}

/** The first position of the file that has a position. */
export const segmentStart = (position: bigint): bigint =>
  position - (position % BigInt(SEGMENT_BYTES))
