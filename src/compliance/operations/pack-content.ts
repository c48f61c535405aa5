// GET /v1/compliance/packs/{id}/content: the file, or a range of it.
import { nj, type Nj } from '#base/units.ts'
import type { NewBlob } from '#blobs/blob.ts'
import { storeOf, type BlobStores } from '#blobs/stores.ts'
import { fault } from '#contract/errors.ts'
import { contentRange, readByteRange, type RequestedRange } from '#http/byte-range.ts'
import { Pieces, type Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { State } from '#state/connect.ts'
import type { PackDeps } from './pack-create.ts'

const BASE_NJ = 1_000_000_000n
/** Reading and writing took 2 ms of CPU for each MiB; the ceiling is ten times that. */
const NJ_PER_MIB = 75_000_000n
const MIB = 1_048_576
/** Bodies up to this size have their final figures in the head of the reply. */
const FIXED_BYTES_MAX = MIB

export const createPackContent =
  ({ state, stores }: PackDeps & { readonly stores: BlobStores }): Handler =>
  async ({ caller, parameters, headers, spend, signal }) => {
    const id = parameters['pack'] ?? ''
    const blob = await findContent(state, callerOf({ caller }).account, id)
    const range = readByteRange(headers['range'], blob.size)
    if (range === null)
      throw fault(
        'pack_range_invalid',
        `Could not give the bytes of the pack: it has ${blob.size}, not ${headers['range']?.slice(0, 60)}`,
      )
    const { start, end }: RequestedRange = range ?? { start: 0, end: blob.size - 1 }
    const length = end - start + 1
    if (caller !== undefined) await spend.admit(caller, 'pack.content', ceilingOf(length))
    const chunks = await storeOf(stores, blob).get(blob, {
      signal,
      range: { first: start, last: end },
    })
    const head = {
      status: range === undefined ? 200 : 206,
      contentType: 'application/zip',
      headers: {
        'accept-ranges': 'bytes',
        'content-disposition': `attachment; filename="${id}.zip"`,
        ...(range && { 'content-range': contentRange(range, blob.size) }),
      },
    }
    if (length > FIXED_BYTES_MAX)
      return { kind: 'streamed', ...head, contentLength: length, chunks, last: none, cut: none }
    const pieces = new Pieces(await chunks.toArray())
    return { kind: 'known', ...head, bytesExpected: length, body: () => pieces }
  }

const none = () => ''

const ceilingOf = (bytes: number): Nj => nj(BASE_NJ + BigInt(Math.ceil(bytes / MIB)) * NJ_PER_MIB)

/** Throws pack_not_found and pack_not_ready. */
async function findContent(state: State, account: string, id: string): Promise<NewBlob> {
  const { rows } = await state.query<{
    status: string
    blob: string | null
    location: string
    size: number
    checksum: string
  }>(
    `select p.status, b.id as blob, b.location, b.size::float8, b.checksum
     from evidence_packs p left join blobs b on b.id = p.blob where p.account = $1 and p.id = $2`,
    [account, id],
  )
  const [row] = rows
  if (row === undefined)
    throw fault('pack_not_found', `Could not find the evidence pack: "${id.slice(0, 100)}"`)
  if (row.blob === null)
    throw fault('pack_not_ready', `Could not give the evidence pack "${id}": it is ${row.status}`)
  return { id: row.blob, location: row.location, size: row.size, checksum: row.checksum }
}
