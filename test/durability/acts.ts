// Every way to change what is stored, each as one request: prepared with fresh keys, so that it can be
// done again and again with a fault at another place.
import { createHash, randomBytes } from 'node:crypto'
import { digestOf, type Effect, type Kept } from './kept.ts'
import type { S3Request } from './s3-call.ts'

export type Target = { readonly port: number; readonly token: string }

export type Step = {
  readonly request: S3Request
  readonly effect: Effect
  /** After an answer and a restart: faults, when what was acknowledged cannot be used. */
  readonly use?: (target: Target, etag: string) => Promise<string[]>
}

/** Prepares a step on keys below `path`, which is in a bucket. */
export type Act = (kept: Kept, target: Target, path: string) => Promise<Step>

export const BUCKET = '/durable'
export const VERSIONED = '/versioned'
const INLINE_SIZE = 900
const LARGE_SIZE = 300_000
const PART_SIZE = 5 * 1024 * 1024

async function demand(kept: Kept, target: Target, request: S3Request, effect: Effect) {
  const answer = await kept.write(target, request, effect)
  if (answer === undefined || answer.status >= 300)
    throw new Error(
      `${request.method} ${request.path}: ${answer?.status} ${answer?.body.toString()}`,
    )
  return answer
}

/** Makes the two buckets, unless they are there. */
export async function makeBuckets(kept: Kept, target: Target): Promise<void> {
  for (const path of [BUCKET, VERSIONED]) {
    const answer = await kept.write(target, { method: 'PUT', path }, kept.unchanged(`${path}/none`))
    if (answer?.status !== 200 && answer?.status !== 409)
      throw new Error(`PUT ${path}: ${answer?.status}`)
  }
  const body = Buffer.from(
    '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>',
  )
  const request: S3Request = { method: 'PUT', path: `${VERSIONED}?versioning`, body }
  await demand(kept, target, request, kept.unchanged(`${VERSIONED}/none`))
}

const putOf = (path: string, size: number): { request: S3Request; effect: Effect } => {
  const body = randomBytes(size)
  return { request: { method: 'PUT', path, body }, effect: { path, content: digestOf(body) } }
}

async function putNow(kept: Kept, target: Target, path: string, size: number) {
  const { request, effect } = putOf(path, size)
  const answer = await demand(kept, target, request, effect)
  return { content: effect.content, version: String(answer.headers['x-amz-version-id'] ?? '') }
}

const put =
  (size: number): Act =>
  async (_kept, _target, path) =>
    putOf(path, size)

const overwrite: Act = async (kept, target, path) => {
  await putNow(kept, target, path, LARGE_SIZE)
  return putOf(path, LARGE_SIZE)
}

const copy =
  (size: number): Act =>
  async (kept, target, path) => {
    const { content } = await putNow(kept, target, `${path}-source`, size)
    const headers = { 'x-amz-copy-source': `${path}-source` }
    return { request: { method: 'PUT', path, headers }, effect: { path, content } }
  }

const remove: Act = async (kept, target, path) => {
  await putNow(kept, target, path, LARGE_SIZE)
  return { request: { method: 'DELETE', path }, effect: { path, content: undefined } }
}

const removeMany: Act = async (kept, target, path) => {
  await putNow(kept, target, path, LARGE_SIZE)
  const [, bucket, ...key] = path.split('/')
  const body = Buffer.from(`<Delete><Object><Key>${key.join('/')}</Key></Object></Delete>`)
  const headers = { 'content-md5': createHash('md5').update(body).digest('base64') }
  const request: S3Request = { method: 'POST', path: `/${bucket}?delete`, body, headers }
  return { request, effect: { path, content: undefined } }
}

const removeVersion: Act = async (kept, target, path) => {
  const before = await putNow(kept, target, path, INLINE_SIZE)
  const { version } = await putNow(kept, target, path, LARGE_SIZE)
  const request: S3Request = { method: 'DELETE', path: `${path}?versionId=${version}` }
  return { request, effect: { path, content: before.content, removes: version } }
}

async function begin(kept: Kept, target: Target, path: string): Promise<string> {
  const request: S3Request = { method: 'POST', path: `${path}?uploads` }
  const answer = await demand(kept, target, request, kept.unchanged(path))
  return `${path}?uploadId=${/<UploadId>([^<]+)</.exec(answer.body.toString())?.[1]}`
}

async function partNow(kept: Kept, target: Target, path: string, body: Buffer) {
  const request: S3Request = { method: 'PUT', path, body }
  const object = path.split('?')[0] ?? ''
  const { headers } = await demand(kept, target, request, kept.unchanged(object))
  return String(headers['etag'])
}

function completion(upload: string, etags: readonly string[], content: string): Step {
  const parts = etags.map(
    (etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`,
  )
  const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
  const path = upload.split('?')[0] ?? ''
  return { request: { method: 'POST', path: upload, body }, effect: { path, content } }
}

const part: Act = async (kept, target, path) => {
  const upload = await begin(kept, target, path)
  const body = randomBytes(LARGE_SIZE)
  return {
    request: { method: 'PUT', path: `${upload}&partNumber=1`, body },
    effect: kept.unchanged(path),
    async use(after, etag) {
      const { request, effect } = completion(upload, [etag], digestOf(body))
      const answer = await kept.write(after, request, effect)
      return answer?.status === 200
        ? []
        : [`a part that was acknowledged cannot be completed: ${answer?.status}`]
    },
  }
}

const complete: Act = async (kept, target, path) => {
  const upload = await begin(kept, target, path)
  const bodies = [randomBytes(PART_SIZE), randomBytes(LARGE_SIZE)]
  const etags: string[] = []
  for (const [at, body] of bodies.entries())
    etags.push(await partNow(kept, target, `${upload}&partNumber=${at + 1}`, body))
  return completion(upload, etags, digestOf(Buffer.concat(bodies)))
}

const abort: Act = async (kept, target, path) => {
  const upload = await begin(kept, target, path)
  await partNow(kept, target, `${upload}&partNumber=1`, randomBytes(LARGE_SIZE))
  return { request: { method: 'DELETE', path: upload }, effect: kept.unchanged(path) }
}

const noteOf = (path: string): string => `${path}?annotation&annotationName=note`

/** Texts are UTF-8. */
function noted(path: string): Step {
  const body = Buffer.from(randomBytes(LARGE_SIZE / 2).toString('hex'))
  const place = noteOf(path)
  return {
    request: { method: 'PUT', path: place, body },
    effect: { path: place, content: digestOf(body) },
  }
}

async function noteNow(kept: Kept, target: Target, path: string) {
  await putNow(kept, target, path, INLINE_SIZE)
  const { request, effect } = noted(path)
  await demand(kept, target, request, effect)
  return effect
}

const annotate: Act = async (kept, target, path) => {
  await noteNow(kept, target, path)
  return noted(path)
}

const copyAnnotated: Act = async (kept, target, path) => {
  const { content } = await noteNow(kept, target, `${path}-source`)
  const headers = { 'x-amz-copy-source': `${path}-source` }
  return { request: { method: 'PUT', path, headers }, effect: { path: noteOf(path), content } }
}

/** The acts by their names, with their buckets. */
export const ACTS: Readonly<Record<string, { readonly bucket: string; readonly act: Act }>> = {
  'put into the row': { bucket: BUCKET, act: put(INLINE_SIZE) },
  'put into a file': { bucket: BUCKET, act: put(LARGE_SIZE) },
  overwrite: { bucket: BUCKET, act: overwrite },
  'copy of a row': { bucket: BUCKET, act: copy(INLINE_SIZE) },
  'copy of a file': { bucket: BUCKET, act: copy(LARGE_SIZE) },
  delete: { bucket: BUCKET, act: remove },
  'delete many': { bucket: BUCKET, act: removeMany },
  part: { bucket: BUCKET, act: part },
  complete: { bucket: BUCKET, act: complete },
  abort: { bucket: BUCKET, act: abort },
  annotate: { bucket: BUCKET, act: annotate },
  'copy of what is annotated': { bucket: BUCKET, act: copyAnnotated },
  'put a version': { bucket: VERSIONED, act: overwrite },
  'put a marker': { bucket: VERSIONED, act: remove },
  'delete a version': { bucket: VERSIONED, act: removeVersion },
}
