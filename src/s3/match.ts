// From a request to the name of its operation, by the table in operations.ts.
import type { IncomingHttpHeaders } from 'node:http'
import { present } from '#base/errors.ts'
import type { Scope } from '#contract/operations.ts'
import { storageFault } from '#contract/storage-errors.ts'
import {
  S3_OPERATIONS,
  type Answer,
  type Condition,
  type Level,
  type S3OperationName,
} from './operations.ts'
import type { Target } from './target.ts'
import { checkVersionId } from './version-id.ts'

export type Match = {
  readonly operation: S3OperationName
  readonly answer: Answer
  /** The scope a token needs; null for preflights, which carry no credentials. */
  readonly scope: Scope | null
  /** As policies write it, `s3:GetObjectVersion` when the request names a version; '' for preflights. */
  readonly action: string
}

type Place = Pick<Target, 'form' | 'bucket' | 'key' | 'query'>
type Test = (place: Place, headers: IncomingHttpHeaders) => boolean

const CONDITIONS: Record<Condition, Test> = {
  'copy-source': (_, headers) => headers['x-amz-copy-source'] !== undefined,
  form: (_, headers) => /^multipart\/form-data\b/i.test(headers['content-type'] ?? ''),
  id: ({ query }) => query.has('id'),
  name: ({ query }) => query.has('annotationName'),
  directory: ({ query }) => query.get('x-id') === 'ListDirectoryBuckets',
  lambda: ({ bucket }) => bucket === 'WriteGetObjectResponse',
}

type Candidate = { readonly name: S3OperationName; readonly condition: Condition | undefined }

/** `GET object acl` → the operations so bound, those with a condition first. */
const BINDINGS = new Map<string, Candidate[]>()
/** Parameter → the levels at which it names an operation. */
const SUBRESOURCES = new Map<string, Set<Level>>()
for (const [name, { binding }] of Object.entries(S3_OPERATIONS)) {
  const found = present(/^(\w+) (\w+)(?: \?(\S+))?(?: \+(\S+))?$/.exec(binding), binding)
  const [, method, level, subresource = '', condition] = found
  const place = `${method} ${level} ${subresource}`
  const candidates = BINDINGS.get(place) ?? []
  const candidate = { name, condition } as Candidate
  if (condition === undefined) candidates.push(candidate)
  else candidates.unshift(candidate)
  BINDINGS.set(place, candidates)
  if (subresource === '') continue
  const levels = SUBRESOURCES.get(subresource) ?? new Set()
  SUBRESOURCES.set(subresource, levels.add(level as Level))
}

/** The parameters that name an operation. */
export const SUBRESOURCE_NAMES: ReadonlySet<string> = new Set(SUBRESOURCES.keys())

/**
 * The operation that a request names. Throws MethodNotAllowed, InvalidArgument (two subresources, a
 * version of what has none, a malformed version id) and InvalidRequest (a subresource of something else: `PUT /bucket/key?policy` must not store a body).
 */
export function match(method: string, target: Place, headers: IncomingHttpHeaders): Match {
  const level = levelOf(target)
  const subresource = method === 'OPTIONS' ? '' : subresourceOf(target.query, level)
  const candidates = BINDINGS.get(`${method} ${level} ${subresource}`) ?? []
  const found = candidates.find(
    ({ condition }) => condition === undefined || CONDITIONS[condition](target, headers),
  )
  if (found === undefined)
    throw storageFault('MethodNotAllowed', undefined, {
      Method: method,
      ResourceType: subresource === '' ? level.toUpperCase() : subresource.toUpperCase(),
      allow: allowedMethods(target).join(', '),
    })
  const versionId = target.query.get('versionId')
  if (versionId !== undefined && WITHOUT_VERSION.has(found.name))
    throw storageFault('InvalidArgument', 'This operation does not accept a version-id.', {
      ArgumentName: 'versionId',
      ArgumentValue: versionId.slice(0, 100),
    })
  if (versionId !== undefined && level === 'object') checkVersionId(versionId)
  const { action, versionAction, answer } = S3_OPERATIONS[found.name]
  const named = versionId === undefined ? action : versionAction
  return {
    operation: found.name,
    answer,
    scope: scopeOf(method),
    action: named === '' ? '' : `s3:${named}`,
  }
}

/** What is about no version that there is: one in the query would be of nothing. */
const WITHOUT_VERSION: ReadonlySet<S3OperationName> = new Set<S3OperationName>([
  'put-object',
  'copy-object',
  'post-object',
  'delete-objects',
  'create-multipart-upload',
  'upload-part',
  'upload-part-copy',
  'complete-multipart-upload',
  'abort-multipart-upload',
  'list-parts',
])

/** The methods that something there answers to, for `Allow` (RFC 9110 §15.5.6); preflights always. */
function allowedMethods(target: Place): string[] {
  const level = levelOf(target)
  const subresource = subresourceOf(target.query, level)
  const methods = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE']
  const found = methods.filter((method) => BINDINGS.has(`${method} ${level} ${subresource}`))
  return [...found, 'OPTIONS']
}

function levelOf({ form, bucket, key }: Place): Level {
  if (form === 'website') return 'website'
  if (bucket === undefined) return 'service'
  return key === undefined ? 'bucket' : 'object'
}

function subresourceOf(query: Target['query'], level: Level): string {
  // A page's parameters are its own.
  if (level === 'website') return ''
  let found = ''
  for (const [name, value] of query.entries()) {
    const levels = SUBRESOURCES.get(name)
    if (levels === undefined || (name === 'list-type' && value !== '2')) continue
    if (!levels.has(level)) {
      throw storageFault(
        'InvalidRequest',
        `There is no such thing as the ?${name} sub-resource for a ${level === 'object' ? 'key' : level}`,
      )
    }
    if (found !== '')
      throw storageFault(
        'InvalidArgument',
        `Conflicting query string parameters: ${found}, ${name}`,
        { ArgumentName: 'ResourceType', ArgumentValue: name },
      )
    found = name
  }
  return found
}

function scopeOf(method: string): Scope | null {
  if (method === 'OPTIONS') return null
  return method === 'GET' || method === 'HEAD' ? 'read' : 'deploy'
}
