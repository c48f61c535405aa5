// The configurations of buckets, cached by edition. Each request learns the current edition in the query that it
// sends anyway, and reads the documents only when the cache has another edition. So a cached document is never older
// than the request.
import { LRUCache } from 'lru-cache'
import type { Queryable } from '#state/connect.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Bucket } from './types.ts'

/** In bytes of JSON text; parsed documents take several times that. */
const KEPT_BYTES_MAX = 32 * 1024 * 1024
/** The cost of an entry without documents. */
const ENTRY_BYTES = 512

type Configurations = Bucket['configurations']

export interface Documents {
  /** The configurations of this edition or a later one. Throws NoSuchBucket. */
  of(bucket: { readonly id: number; readonly edition: string | number }): Promise<Configurations>
}

type ReadDocument = {
  readonly edition: string
  readonly bytes: number
  readonly found: Configurations
}

/** `keptBytesMax` bounds the cache; the least recently used entry is evicted first. */
export function createDocuments(
  deps: { state: Queryable },
  keptBytesMax = KEPT_BYTES_MAX,
): Documents {
  const kept = new LRUCache<number, ReadDocument>({
    maxSize: keptBytesMax,
    sizeCalculation: ({ bytes }) => bytes,
  })
  const reading = new Map<string, Promise<ReadDocument>>()

  /** Concurrent reads of one edition share a query. */
  async function readOnce(id: number, edition: string): Promise<ReadDocument> {
    const place = `${id} ${edition}`
    const running = reading.get(place) ?? read(deps.state, id)
    reading.set(place, running)
    try {
      return await running
    } finally {
      reading.delete(place)
    }
  }

  return {
    async of({ id, edition: asked }) {
      const edition = String(asked)
      const known = kept.get(id)
      const current = known?.edition === edition ? known : await readOnce(id, edition)
      if (current !== known) kept.set(id, current)
      return current.found
    },
  }
}

async function read(state: Queryable, id: number): Promise<ReadDocument> {
  const { rows } = await state.query<{ edition: string; text: string }>(
    'select edition, configurations::text as text from buckets where id = $1',
    [id],
  )
  const [row] = rows
  if (row === undefined) throw storageFault('NoSuchBucket')
  const { edition, text } = row
  return { edition, bytes: ENTRY_BYTES + text.length, found: JSON.parse(text) as Configurations }
}
