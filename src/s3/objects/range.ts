// Byte ranges (RFC 9110 §14) of S3: one range, or the whole object.
import { storageFault } from '#contract/storage/storage-errors.ts'
import { readByteRange, type RequestedRange } from '#http/byte-range.ts'

/**
 * The bytes of a Range header; undefined means the whole object with 200: no header, another unit, invalid syntax, or
 * several ranges, which S3 does not serve. Throws InvalidRange.
 */
export function parseRange(header: string | undefined, size: number): RequestedRange | undefined {
  const range = readByteRange(header, size)
  if (range === null) throw unsatisfiable(header ?? '', size)
  return range
}

/** x-amz-copy-source-range, which must be `bytes=first-last` inside the source. */
export function parseCopyRange(header: string, size: number): RequestedRange {
  const found = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(header)
  const [, first = '', last = ''] = found ?? []
  if (found === null || Number(last) < Number(first))
    throw storageFault(
      'InvalidArgument',
      'The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy',
      { ArgumentName: 'x-amz-copy-source-range', ArgumentValue: header },
    )
  if (Number(last) >= size) throw unsatisfiable(header, size)
  return { start: Number(first), end: Number(last) }
}

function unsatisfiable(header: string, size: number) {
  return storageFault('InvalidRange', undefined, {
    RangeRequested: header,
    ActualObjectSize: size,
  })
}
