// The reply to an uploaded form: `success_action_redirect`, then `success_action_status`.
import { writePlainXml } from '#s3/xml/write.ts'

export type PostReply = {
  readonly status: 200 | 201 | 204 | 303
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type PostedObject = {
  readonly bucket: string
  readonly key: string
  /** The ETag without quotes. */
  readonly etag: string
  /** The object's address. */
  readonly location: string
}

/** An invalid redirect, and a status other than the three, are ignored. */
export function postReply(fields: ReadonlyMap<string, string>, object: PostedObject): PostReply {
  const { bucket, key, etag, location } = object
  const replyHeaders = { etag: `"${etag}"`, location }
  const address = fields.get('success_action_redirect') ?? fields.get('redirect')
  const redirect = address !== undefined && URL.canParse(address) ? new URL(address) : undefined
  if (redirect !== undefined && /^https?:$/.test(redirect.protocol)) {
    const query = [
      ['bucket', bucket],
      ['key', key],
      ['etag', `"${etag}"`],
    ].map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`)
    redirect.search += (redirect.search === '' ? '?' : '&') + query.join('&')
    return { status: 303, headers: { ...replyHeaders, location: redirect.href }, body: '' }
  }
  switch (fields.get('success_action_status')) {
    case '200':
      return { status: 200, headers: replyHeaders, body: '' }
    case '201': {
      const body = writePlainXml('PostResponse', [
        ['Location', location],
        ['Bucket', bucket],
        ['Key', key],
        ['ETag', `"${etag}"`],
      ])
      return { status: 201, headers: { ...replyHeaders, 'content-type': 'application/xml' }, body }
    }
    default:
      return { status: 204, headers: replyHeaders, body: '' }
  }
}
