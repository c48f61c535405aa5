// Finds the operation that a request names, in the table of contract/storage/s3-operations.ts.
import type { IncomingHttpHeaders } from 'node:http'
import { storageFault } from '#contract/storage/storage-errors.ts'
import {
  S3_OPERATIONS,
  versionAction,
  type OperationCondition,
  type OperationLevel,
  type S3Operation,
  type S3OperationName,
} from '#contract/storage/s3-operations.ts'
import type { S3Target } from './target.ts'
import { checkVersionId } from './version-id.ts'

export type Match = {
  readonly operation: S3OperationName
  readonly row: S3Operation
  /** As policies write it, `s3:GetObjectVersion` when the request names a version; '' for preflights. */
  readonly action: string
}

type MatchedTarget = Pick<S3Target, 'form' | 'bucket' | 'key' | 'query'>
type Test = (place: MatchedTarget, headers: IncomingHttpHeaders) => boolean

const CONDITIONS: Record<OperationCondition, Test> = {
  'copy-source': (_, headers) => headers['x-amz-copy-source'] !== undefined,
  form: (_, headers) => /^multipart\/form-data\b/i.test(headers['content-type'] ?? ''),
  id: ({ query }) => query.has('id'),
  name: ({ query }) => query.has('annotationName'),
  directory: ({ query }) => query.get('x-id') === 'ListDirectoryBuckets',
  lambda: ({ bucket }) => bucket === 'WriteGetObjectResponse',
}

type Candidate = {
  readonly name: S3OperationName
  readonly condition: OperationCondition | undefined
}

/** `GET object acl` → the operations of that request, those with a condition first. */
const BINDINGS = new Map<string, Candidate[]>()
/** Parameter → the levels at which it names an operation. */
const SUBRESOURCES = new Map<string, Set<OperationLevel>>()
for (const [name, { method, level, subresource, when }] of Object.entries(S3_OPERATIONS)) {
  const binding = `${method} ${level} ${subresource ?? ''}`
  const candidate = { name, condition: when } as Candidate
  const others = BINDINGS.get(binding) ?? []
  BINDINGS.set(binding, when === undefined ? [...others, candidate] : [candidate, ...others])
  if (subresource === null) continue
  const levels = SUBRESOURCES.get(subresource) ?? new Set()
  SUBRESOURCES.set(subresource, levels.add(level))
}

/** The parameters that name an operation. */
export const SUBRESOURCE_NAMES: ReadonlySet<string> = new Set(SUBRESOURCES.keys())

/**
 * The operation that a request names. Throws MethodNotAllowed, InvalidArgument (two subresources, a version id where
 * none applies, a malformed version id) and InvalidRequest (a subresource of another level: `PUT /bucket/key?policy`
 * must not store a body).
 */
export function match(method: string, target: MatchedTarget, headers: IncomingHttpHeaders): Match {
  const level = levelOf(target)
  const subresource = method === 'OPTIONS' ? '' : subresourceOf(target.query, level)
  const candidates = BINDINGS.get(`${method} ${level} ${subresource}`) ?? []
  const found = candidates.find(
    ({ condition }) => condition === undefined || CONDITIONS[condition](target, headers),
  )
  if (found === undefined)
    throw storageFault(
      'MethodNotAllowed',
      undefined,
      {
        Method: method,
        ResourceType: subresource === '' ? level.toUpperCase() : subresource.toUpperCase(),
      },
      { allow: allowedMethods(target).join(', ') },
    )
  const row = S3_OPERATIONS[found.name]
  const versionId = target.query.get('versionId')
  if (versionId !== undefined && row.refusesVersionId === true)
    throw storageFault('InvalidArgument', 'This operation does not accept a version-id.', {
      ArgumentName: 'versionId',
      ArgumentValue: versionId.slice(0, 100),
    })
  if (versionId !== undefined && level === 'object') checkVersionId(versionId)
  return { operation: found.name, row, action: actionOf(row, versionId !== undefined) }
}

/** `s3:GetObjectVersion`; '' for preflights. */
function actionOf({ action, isVersioned }: S3Operation, namesVersion: boolean): string {
  if (action === null) return ''
  return `s3:${namesVersion && isVersioned === true ? versionAction(action) : action}`
}

/** The methods for `Allow` (RFC 9110 §15.5.6); preflights always. */
function allowedMethods(target: MatchedTarget): string[] {
  const level = levelOf(target)
  const subresource = subresourceOf(target.query, level)
  const methods = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE']
  const found = methods.filter((method) => BINDINGS.has(`${method} ${level} ${subresource}`))
  return [...found, 'OPTIONS']
}

function levelOf({ form, bucket, key }: MatchedTarget): OperationLevel {
  if (form === 'website') return 'website'
  if (bucket === undefined) return 'service'
  return key === undefined ? 'bucket' : 'object'
}

function subresourceOf(query: S3Target['query'], level: OperationLevel): string {
  // Parameters of a page belong to the page.
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
