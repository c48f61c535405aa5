// Where an image comes from: a registry, or a file or folder of this machine.
import { fault } from '#contract/errors.ts'
import { DIGEST } from '#contract/workloads/images.ts'
import { REGISTRY_NAME, registryName } from '#contract/workloads/registry-limits.ts'

/** An image in a registry; `digest` wins over `tag`. */
export type RegistryReference = {
  readonly kind: 'registry'
  /** Host and port, such as `ghcr.io` or `127.0.0.1:5000`. */
  readonly registry: string
  readonly repository: string
  readonly tag: string
  readonly digest: string | undefined
}

/** An image layout (a folder, or a tar of it), or an archive of `docker save`. */
export type LocalReference = {
  readonly kind: 'oci' | 'docker-archive'
  readonly path: string
  /** The first image of the place where undefined. */
  readonly tag: string | undefined
}

export type ImageReference = RegistryReference | LocalReference

const LENGTH_MAX = 1024
const DEFAULT_REGISTRY = 'docker.io'
/** Names without a folder are official images of Docker's registry. */
const OFFICIAL = 'library'
const LOCAL = /^(oci|docker-archive):([^\0]+?)(?::([\w][\w.-]{0,127}))?$/
const REPOSITORY =
  /^[a-z\d]+(?:(?:\.|_{1,2}|-+)[a-z\d]+)*(?:\/[a-z\d]+(?:(?:\.|_{1,2}|-+)[a-z\d]+)*)*$/
const TAG = /^[\w][\w.-]{0,127}$/

/**
 * Reads `[registry/]repository[:tag][@sha256:…]`, `oci:PATH[:tag]` or `docker-archive:PATH[:tag]`.
 * Throws image_reference_invalid.
 */
export function parseImageReference(text: string): ImageReference {
  if (text.length > LENGTH_MAX) throw invalid(`${text.slice(0, 80)}…`, 'it is too long')
  const local = LOCAL.exec(text)
  if (local !== null) {
    if (text.includes('@sha256:'))
      throw invalid(text, 'an image in a file is chosen by its tag, and has no digest')
    const [, kind, path = '', tag] = local
    return { kind: kind as LocalReference['kind'], path, tag }
  }
  const [named = '', digest, ...more] = text.split('@')
  if (more.length > 0) throw invalid(text, 'it has two digests')
  if (digest !== undefined && !DIGEST.test(digest))
    throw invalid(text, 'the digest must be sha256: and 64 digits of lower-case hex')
  const slash = named.indexOf('/')
  const first = named.slice(0, slash)
  const isHost = slash > 0 && REGISTRY_NAME.test(first)
  const rest = isHost ? named.slice(slash + 1) : named
  const colon = rest.indexOf(':', rest.lastIndexOf('/') + 1)
  const [name, tag] = colon < 0 ? [rest, 'latest'] : [rest.slice(0, colon), rest.slice(colon + 1)]
  if (!REPOSITORY.test(name))
    throw invalid(text, 'a name has lower-case letters, digits and single . _ - between them')
  if (!TAG.test(tag)) throw invalid(text, 'a tag has letters, digits, _ . - and 128 at most')
  const registry = isHost ? registryName(first) : DEFAULT_REGISTRY
  const isOfficial = registry === DEFAULT_REGISTRY && !name.includes('/')
  const repository = isOfficial ? `${OFFICIAL}/${name}` : name
  return { kind: 'registry', registry, repository, tag, digest }
}

/** The shortest text that parses to the same image, as people write it. */
export function imageText(reference: ImageReference): string {
  if (reference.kind !== 'registry')
    return `${reference.kind}:${reference.path}${reference.tag === undefined ? '' : `:${reference.tag}`}`
  const { registry, repository, tag, digest } = reference
  const isDefault = registry === DEFAULT_REGISTRY
  const short =
    isDefault && repository.startsWith(`${OFFICIAL}/`)
      ? repository.slice(OFFICIAL.length + 1)
      : repository
  const name = isDefault ? short : `${registry}/${repository}`
  return digest === undefined ? `${name}:${tag}` : `${name}:${tag}@${digest}`
}

const invalid = (text: string, why: string) =>
  fault('image_reference_invalid', `Could not read the image "${text}": ${why}`)
