// Concurrent chat requests for a bounded time: whole answers, streams, and streams that the client leaves.
import type { Ergon } from './start-ergon.ts'

export type ChatLoad = {
  readonly concurrent: number
  readonly forMs: number
  readonly maxTokens: number
}
export type ChatCounts = {
  /** Receipts of whole answers, as their headers said. */
  readonly receipts: string[]
  streamed: number
  left: number
  /** Statuses other than 200, with how often. */
  readonly refused: Map<number, number>
}

const TOPICS = ['rivers', 'bread', 'the moon', 'a bicycle', 'winter', 'music', 'glass', 'birds']
// Of any eight requests one is a stream that is left at its first chunk, two are whole streams.
const KINDS = ['whole', 'whole', 'stream', 'whole', 'left', 'whole', 'stream', 'whole'] as const
const REQUEST_MAX_MS = 120_000
const PAUSE_MS = 20

/** Every client asks again until the time is over; resolves when the last answer is complete. */
export async function chatFor(ergon: Ergon, load: ChatLoad): Promise<ChatCounts> {
  const counts: ChatCounts = { receipts: [], streamed: 0, left: 0, refused: new Map() }
  const untilMs = performance.now() + load.forMs
  const client = async (_: unknown, number: number) => {
    for (let turn = number; performance.now() < untilMs; turn++) {
      await ask(ergon, { turn, maxTokens: load.maxTokens }, counts)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  await Promise.all(Array.from({ length: load.concurrent }, client))
  return counts
}

async function ask(
  ergon: Ergon,
  { turn, maxTokens }: { turn: number; maxTokens: number },
  counts: ChatCounts,
): Promise<void> {
  const kind = KINDS[turn % KINDS.length] ?? 'whole'
  const leaving = new AbortController()
  const response = await fetch(`${ergon.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${ergon.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      model: 'auto',
      max_tokens: maxTokens,
      stream: kind !== 'whole',
      messages: [{ role: 'user', content: `Say something of ${TOPICS[turn % TOPICS.length]}.` }],
    }),
    signal: AbortSignal.any([leaving.signal, AbortSignal.timeout(REQUEST_MAX_MS)]),
  })
  const { status, headers } = response
  if (kind === 'left' && status === 200) {
    await response.body?.getReader().read()
    leaving.abort()
    counts.left++
    return
  }
  await response.text()
  if (status !== 200) counts.refused.set(status, (counts.refused.get(status) ?? 0) + 1)
  else if (kind === 'stream') counts.streamed++
  else counts.receipts.push(headers.get('x-receipt-id') ?? 'none')
}
