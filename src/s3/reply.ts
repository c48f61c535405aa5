// Replies of the S3 protocol.
import type { ReplyHeaders, KnownReply } from '#http/reply.ts'

const XML = 'application/xml'

/** An XML document. Its length helps to bill the writing of the reply. */
export const xmlReply = (xml: string, headers: ReplyHeaders = {}, status = 200): KnownReply => ({
  kind: 'known',
  status,
  headers,
  contentType: XML,
  bytesExpected: xml.length,
  body: () => xml,
})

/** No body: 200 with length 0, or 204. */
export const emptyReply = (headers: ReplyHeaders = {}, status = 200): KnownReply => ({
  kind: 'known',
  status,
  headers,
  contentType: XML,
  body: () => '',
})
