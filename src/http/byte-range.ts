// One byte range of a request (RFC 9110 §14): all of a body is answered to anything else.

/** Both ends are inclusive. */
export type RequestedRange = { readonly start: number; readonly end: number }

/**
 * The bytes of a Range header for a body of `size`. Undefined means the whole body with 200: no header, another unit,
 * invalid syntax, or several ranges. Null: the body has none of these bytes (416).
 */
export function readByteRange(
  header: string | undefined,
  size: number,
): RequestedRange | null | undefined {
  const found = /^bytes=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i.exec(header ?? '')
  const [, first = '', last = ''] = found ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    const suffix = Number(last)
    return suffix === 0 || size === 0 ? null : { start: Math.max(0, size - suffix), end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return undefined
  return start >= size ? null : { start, end }
}

/** `Content-Range` of 206, and of 416 without a range. */
export const contentRange = (range: RequestedRange | undefined, size: number): string =>
  range === undefined ? `bytes */${size}` : `bytes ${range.start}-${range.end}/${size}`
