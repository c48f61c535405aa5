// An upload of a file with its progress: small ones whole, large ones in parts that outlive a lost connection or page.
import { begunUploads, markOf } from './begun-uploads.ts'
import { discardOf, uploadInParts } from './multipart.ts'
import { isProblem, Problem } from './problem.ts'
import { headObject, pathOf, type Place } from './s3.ts'
import { sendBody, typeOf, type UploadOptions } from './send-body.ts'

/** Above this a file goes in parts. */
const WHOLE_BYTES_MAX = 16 * 2 ** 20
export const goesInParts = ({ size }: File): boolean => size > WHOLE_BYTES_MAX

/** Puts a file. Parts of a large one that have arrived are not sent again. Those of another file of the name are removed. */
export async function upload(place: Place, file: File, options: UploadOptions): Promise<void> {
  const { replaces, signal } = options
  if (goesInParts(file)) {
    const isBegun = begunUploads.find(place, await markOf(file)) !== undefined
    if (!replaces && !isBegun && (await objectExists(place, signal)))
      throw new Problem({ status: 412, code: 'PreconditionFailed', detail: 'The object exists' })
    return await uploadInParts(place, file, options)
  }
  await sendBody(pathOf(place), file, {
    ...options,
    headers: { 'content-type': typeOf(file), ...(!replaces && { 'if-none-match': '*' }) },
  })
  // The file is stored, whatever becomes of the parts of another file: the page still offers to discard those.
  await discardOf(place).catch(() => undefined)
}

const objectExists = (place: Place, signal: AbortSignal): Promise<boolean> =>
  headObject(place, signal).then(
    () => true,
    (error: unknown) => {
      if (isProblem(error) && error.status === 404) return false
      throw error
    },
  )
