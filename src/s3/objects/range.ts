// Byte ranges (RFC 9110 §14) of S3: one range, or the whole object.
import { storageFault } from '#contract/storage-errors.ts'

/** Both ends are inclusive. */
export type RequestedRange = { readonly start: number; readonly end: number }

/**
 * The bytes of a Range header; undefined means the whole object with 200: no header, another unit, invalid syntax, or
 * several ranges, which S3 does not serve. Throws InvalidRange.
 */
export function parseRange(header: string | undefined, size: number): RequestedRange | undefined {
  const found = /^bytes=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i.exec(header ?? '')
  const [, first = '', last = ''] = found ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    const suffix = Number(last)
    if (suffix === 0 || size === 0) throw unsatisfiable(header ?? '', size)
    return { start: Math.max(0, size - suffix), end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= size) throw unsatisfiable(header ?? '', size)
  return { start, end }
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

/** `Content-Range` of 206, and of 416 without a range. */
export const contentRange = (range: RequestedRange | undefined, size: number): string =>
  range === undefined ? `bytes */${size}` : `bytes ${range.start}-${range.end}/${size}`
