// Renders an error as a page for visitors of a website, like AWS's.
import type { ErgonError } from '#base/errors.ts'
import { STATUS_CODES } from '#base/node-http.ts'
import {
  codeOf,
  faultHeaders,
  shownDetails,
  shownError,
  type ErrorPlace,
} from '#s3/render-error.ts'
import { escapeXml } from '#s3/xml/write.ts'

/** The headers of an error on a website. */
export const errorHeaders = (error: ErgonError): Record<string, string> => ({
  'x-amz-error-code': codeOf(error),
  'x-amz-error-message': error.message.replace(/[^\x20-\x7e]/g, '?'),
})

/** The page; empty for HEAD. */
export function renderPageError(
  fault: ErgonError,
  method: string,
  place: ErrorPlace,
): { contentType: string; body: string; headers: Record<string, string> } {
  const error = shownError(fault)
  const headers = { ...faultHeaders(error, place), ...errorHeaders(error) }
  const contentType = 'text/html; charset=utf-8'
  if (method === 'HEAD' || error.status === 304) return { contentType, body: '', headers }
  const title = `${error.status} ${STATUS_CODES[error.status] ?? ''}`.trim()
  const items = [
    ['Code', codeOf(error)],
    ['Message', error.message],
    ...shownDetails(error),
    ['RequestId', place.requestId],
    ['HostId', place.hostId],
  ].map(([name = '', value = '']) => `<li>${escapeXml(name)}: ${escapeXml(value)}</li>\n`)
  const body =
    `<!doctype html>\n<html>\n<head><title>${title}</title></head>\n<body>\n` +
    `<h1>${title}</h1>\n<ul>\n${items.join('')}</ul>\n</body>\n</html>\n`
  return { contentType, body, headers }
}
