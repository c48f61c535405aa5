// Replies of the S3 door, made from what an operation found out.
import type { Headers, KnownReply } from '#http/reply.ts'

const XML = 'application/xml'

/** An XML document; long listings say how long, for the tail that is billed. */
export const xmlReply = (xml: string, headers: Headers = {}, status = 200): KnownReply => ({
  kind: 'known',
  status,
  headers,
  contentType: XML,
  bytesExpected: xml.length,
  body: () => xml,
})

/** No body: 200 with a length of 0, or 204. */
export const emptyReply = (headers: Headers = {}, status = 200): KnownReply => ({
  kind: 'known',
  status,
  headers,
  contentType: XML,
  body: () => '',
})
