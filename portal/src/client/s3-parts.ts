// The operations of the S3 protocol for an upload in parts.
import { elements, parse, pathOf, sendS3, storageProblem, textOf, type Place } from './s3.ts'

export type Part = { readonly number: number; readonly etag: string; readonly bytes: number }
export type PartsOf = Place & { readonly uploadId: string }

const XML = { 'content-type': 'application/xml' }

/** Begins it, and gives its id. */
export async function beginParts(place: Place, type: string, signal: AbortSignal): Promise<string> {
  const headers = { 'content-type': type }
  const answer = await sendS3('POST', `${pathOf(place)}?uploads`, { signal, headers })
  return textOf(parse(await answer.text()), 'UploadId')
}

/** The parts that have arrived. Throws NoSuchUpload for one that is over. */
export async function listParts(of: PartsOf, signal: AbortSignal): Promise<readonly Part[]> {
  const parts: Part[] = []
  let after: string | undefined = '0'
  while (after !== undefined) {
    const at: string = addressOf(of, { 'part-number-marker': after })
    const page = parse(await (await sendS3('GET', at, { signal })).text())
    for (const part of elements(page, 'Part'))
      parts.push({
        number: Number(textOf(part, 'PartNumber')),
        etag: textOf(part, 'ETag'),
        bytes: Number(textOf(part, 'Size')),
      })
    const isLast = textOf(page, 'IsTruncated') !== 'true'
    after = isLast ? undefined : textOf(page, 'NextPartNumberMarker')
  }
  return parts
}

/** Makes the object. Without `replaces` PreconditionFailed is thrown where there is one. */
export async function completeParts(
  of: PartsOf,
  { parts, replaces }: { readonly parts: readonly Part[]; readonly replaces: boolean },
  signal: AbortSignal,
): Promise<void> {
  const body = parts.map(
    ({ number, etag }) =>
      `<Part><PartNumber>${number}</PartNumber><ETag>${etag.replaceAll('"', '')}</ETag></Part>`,
  )
  const answer = await sendS3('POST', addressOf(of), {
    signal,
    headers: { ...XML, ...(!replaces && { 'if-none-match': '*' }) },
    body: `<CompleteMultipartUpload>${body.join('')}</CompleteMultipartUpload>`,
  })
  // An answer that began as 200 may still tell of an error.
  const text = await answer.text()
  if (elements(parse(text), 'Error').length > 0) throw storageProblem(answer.status, text)
}

/** Removes the parts. */
export const abortParts = (of: PartsOf): Promise<unknown> => sendS3('DELETE', addressOf(of), {})

const addressOf = (of: PartsOf, further: Readonly<Record<string, string>> = {}): string =>
  `${pathOf(of)}?${new URLSearchParams({ uploadId: of.uploadId, ...further }).toString()}`
