// An S3 store in memory for tests: the seven calls that the blob store makes, by path.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type UpstreamDouble = AsyncDisposable & {
  readonly url: string
  readonly objects: Map<string, Buffer>
  /** The status that the next PUTs are answered with. */
  refuses: number | undefined
  /** Handles a request before it is read; on false the request gets its usual answer. */
  ends: ((response: ServerResponse) => boolean) | undefined
}

const NO_SUCH_KEY = '<Error><Code>NoSuchKey</Code></Error>'

export async function startUpstream(): Promise<UpstreamDouble> {
  const objects = new Map<string, Buffer>()
  const parts = new Map<string, Buffer[]>()
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (upstream.ends?.(response) === true) return
    const url = new URL(request.url ?? '/', 'http://upstream')
    const key = decodeURIComponent(url.pathname)
    const body = await buffer(request)
    if (request.method === 'PUT' || request.method === 'POST') {
      if (upstream.refuses !== undefined) return void response.writeHead(upstream.refuses).end()
      return void write(request.method, url, key, { body, response })
    }
    if (url.searchParams.has('list-type')) return void response.end(list(objects, url, key))
    if (request.method === 'DELETE') objects.delete(key)
    const found = objects.get(key)
    if (request.method === 'DELETE') return void response.writeHead(204).end()
    if (found === undefined) return void response.writeHead(404).end(NO_SUCH_KEY)
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    const bytes = first === undefined ? found : found.subarray(Number(first), Number(last) + 1)
    response.setHeader('last-modified', new Date().toUTCString())
    response.setHeader('content-length', bytes.length)
    response.writeHead(first === undefined ? 200 : 206)
    response.end(request.method === 'HEAD' ? undefined : bytes)
  }

  function write(
    method: string,
    url: URL,
    key: string,
    { body, response }: { body: Buffer; response: ServerResponse },
  ): void {
    const number = url.searchParams.get('partNumber')
    response.setHeader('etag', '"x"')
    if (method === 'PUT' && number === null) objects.set(key, plain(body))
    else if (method === 'PUT') (parts.get(key) ?? [])[Number(number) - 1] = plain(body)
    else if (url.searchParams.has('uploads')) {
      parts.set(key, [])
      response.write(
        '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>',
      )
    } else {
      objects.set(key, Buffer.concat(parts.get(key) ?? []))
      response.write(
        '<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>',
      )
    }
    response.end()
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const upstream: UpstreamDouble = {
    url: `http://127.0.0.1:${port}`,
    objects,
    refuses: undefined,
    ends: undefined,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return upstream
}

/** A body without the aws-chunked framing that the SDK sends streams in. */
function plain(body: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; at < body.length;) {
    const end = body.indexOf('\r\n', at)
    const [, hex] = /^([0-9a-f]+)(;.*)?$/.exec(body.toString('latin1', at, Math.max(at, end))) ?? []
    if (hex === undefined) return at === 0 ? body : Buffer.concat(chunks)
    const size = Number.parseInt(hex, 16)
    if (size === 0) return Buffer.concat(chunks)
    chunks.push(body.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
  return body
}

/** Two keys a page. */
function list(objects: Map<string, Buffer>, url: URL, bucket: string): string {
  const root = `${bucket.replace(/\/$/, '')}/`
  const wanted = [...objects.keys()]
    .filter((key) => key.startsWith(root + (url.searchParams.get('prefix') ?? '')))
    .toSorted()
  const from = Number(url.searchParams.get('continuation-token') ?? 0)
  const entries = wanted
    .slice(from, from + 2)
    .map(
      (key) =>
        `<Contents><Key>${key.slice(root.length)}</Key><Size>${objects.get(key)?.length}</Size><LastModified>${new Date().toISOString()}</LastModified></Contents>`,
    )
  const more =
    from + 2 < wanted.length ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : ''
  return `<ListBucketResult>${entries.join('')}${more}</ListBucketResult>`
}
