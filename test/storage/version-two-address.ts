// An address that is signed with version 2, as boto3's presign makes it.
import { createHmac } from 'node:crypto'

type Asked = {
  readonly path: string
  readonly method?: string
  /** In seconds since 1970. */
  readonly expires?: number
}

export function versionTwoAddress(
  base: string,
  keys: { readonly id: string; readonly secret: string },
  { path, method = 'GET', expires = Math.floor(Date.now() / 1000) + 600 }: Asked,
): string {
  const text = `${method}\n\n\n${expires}\n${path}`
  const signature = createHmac('sha1', keys.secret).update(text).digest('base64')
  const url = new URL(path, base)
  url.searchParams.set('AWSAccessKeyId', keys.id)
  url.searchParams.set('Signature', signature)
  url.searchParams.set('Expires', String(expires))
  return url.href
}
