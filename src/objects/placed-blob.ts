// The place of a blob, which a move to another store changes.
import type { BlobRef, NewBlob } from '#blobs/blob.ts'
import { blobMissing } from '#blobs/faults.ts'
import type { Queryable } from '#state/connect.ts'

/** The blob with its checksum, where it is now. Throws `blob_missing`. */
export async function placedBlob(finds: Queryable, { id }: Pick<BlobRef, 'id'>): Promise<NewBlob> {
  const { rows } = await finds.query<{ location: string; size: number; checksum: string }>(
    'select location, size::float8, checksum from blobs where id = $1::text::uuid',
    [id],
  )
  const [row] = rows
  if (row === undefined) throw blobMissing(id)
  return { id, ...row }
}
