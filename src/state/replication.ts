// A connection of a replica (PostgreSQL's streaming replication protocol, chapter 55.4): copies of a server's files, and
// its write-ahead log as it grows. The driver knows the messages; this gives their bytes with back-pressure.
import pg from 'pg'
import { fault } from '#contract/errors.ts'
import type { SqlRow, StateAddress } from './connect.ts'

export type ReplicationCopy = {
  /** The messages of the copy. Rejects with the server's error, or when the connection is lost. */
  readonly messages: AsyncIterable<Buffer>
  /** Ends the messages with an error. */
  readonly fail: (error: unknown) => void
  /** For a copy in both directions. */
  readonly send: (message: Buffer) => void
  /** The rows beside the copy, by result; after the last message. */
  readonly results: () => Promise<readonly (readonly SqlRow[])[]>
}

export interface Replication extends AsyncDisposable {
  query(text: string): Promise<readonly SqlRow[]>
  copy(text: string): ReplicationCopy
}

/** A part of the driver that its types lack. */
type Wire = {
  readonly stream: { pause(): void; resume(): void }
  on(event: 'copyData', take: (message: { readonly chunk: Buffer }) => void): void
  on(event: 'commandComplete', take: () => void): void
  sendCopyFromChunk(chunk: Buffer): void
}

const CONNECT_MS = 15_000
/** Waiting bytes at which reading from the socket rests. */
const WAITING_BYTES_MAX = 1_048_576

/** Connects as a replica that may also run SQL. Throws the driver's errors. */
export async function openReplication(address: StateAddress): Promise<Replication> {
  const config = 'url' in address ? { connectionString: address.url } : address
  // An option of the driver that its types lack.
  const replica = { replication: 'database' }
  const client = new pg.Client({
    ...config,
    ...replica,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'ergon',
  })
  const lost = new Promise<Error>((resolve) => {
    client.on('error', resolve)
    client.on('end', () =>
      resolve(fault('state_unavailable', 'Could not go on as a replica: the connection has ended')),
    )
  })
  await client.connect()
  const wire = (client as unknown as { readonly connection: Wire }).connection
  return {
    query: async (text) => (await client.query<SqlRow>(text)).rows,
    copy: (text) => startCopy(client, wire, { text, lost }),
    async [Symbol.asyncDispose]() {
      wire.stream.resume()
      await client.end().catch(() => undefined)
    },
  }
}

function startCopy(
  client: pg.Client,
  wire: Wire,
  { text, lost }: { readonly text: string; readonly lost: Promise<Error> },
): ReplicationCopy {
  const waiting: Buffer[] = []
  let waitingBytes = 0
  let ended: { readonly error?: unknown } | undefined
  /** A server that stops in order completes the command and leaves. */
  let isComplete = false
  let wake: () => void = () => undefined
  const end = (error?: unknown) => {
    ended ??= isComplete ? {} : { error }
    wake()
  }
  wire.on('copyData', ({ chunk }) => {
    isComplete = false
    // The driver's parser writes over its buffer.
    waiting.push(Buffer.from(chunk))
    waitingBytes += chunk.length
    if (waitingBytes > WAITING_BYTES_MAX) wire.stream.pause()
    wake()
  })
  wire.on('commandComplete', () => (isComplete = true))
  const done = client.query(text) as unknown as Promise<
    pg.QueryResult<SqlRow> | pg.QueryResult<SqlRow>[]
  >
  done.then(() => end(), end)
  void lost.then(end)
  async function* messages(): AsyncGenerator<Buffer> {
    for (;;) {
      const message = waiting.shift()
      if (message !== undefined) {
        waitingBytes -= message.length
        if (waitingBytes <= WAITING_BYTES_MAX / 2) wire.stream.resume()
        yield message
        continue
      }
      if (ended?.error !== undefined) throw ended.error
      if (ended !== undefined) return
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  return {
    messages: messages(),
    fail(error) {
      ended ??= { error }
      wake()
    },
    send: (message) => wire.sendCopyFromChunk(message),
    async results() {
      const results = await done
      return (Array.isArray(results) ? results : [results]).map(({ rows }) => rows)
    },
  }
}
