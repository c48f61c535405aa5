// Where in the storage the page is: /storage/<bucket>/<prefix>/ or /storage/<bucket>/<key>. Names that no address can have,
// such as "..", are in the query.
import { useLocation, useParams, useRouter, useSearch } from '@tanstack/react-router'

export type StoragePlace = {
  readonly bucket?: string | undefined
  /** Empty or with a slash at its end. */
  readonly prefix?: string | undefined
  /** The key of the object that is open. */
  readonly object?: string | undefined
}

type Query = Pick<StoragePlace, 'prefix' | 'object'>
export type PlaceAddress = { readonly path: string; readonly query: Query }

/** Browsers and the router keep a path as it is when each of its parts is a name. */
const isPath = (text: string): boolean =>
  text.split('/').every((part, nth, parts) => nth === parts.length - 1 || part !== '') &&
  !/(^|\/)\.\.?(\/|$)/.test(text)

/** The address of a place: its part behind /storage/, and its query. */
export function addressOf({ bucket = '', prefix = '', object }: StoragePlace): PlaceAddress {
  if (bucket === '') return { path: '', query: {} }
  const text = object ?? prefix
  const isObjectPath = object === undefined || !object.endsWith('/')
  if (isObjectPath && isPath(text)) return { path: `${bucket}/${text}`, query: {} }
  return { path: `${bucket}/`, query: { prefix, ...(object !== undefined && { object }) } }
}

/** Any other first part, such as `..`, would lead a request out of the bucket. */
const BUCKET = /^(?!.*\.\.)[a-z0-9][a-z0-9.-]{0,62}$/

/** The place of an address; none where its bucket has no name of a bucket. */
export function placeAt({ path, query }: PlaceAddress): StoragePlace {
  const [bucket, text = ''] = /^([^/]+)(?:\/([^]*))?$/.exec(path)?.slice(1) ?? []
  if (bucket === undefined || !BUCKET.test(bucket)) return {}
  const prefix = query.prefix ?? text.slice(0, text.lastIndexOf('/') + 1)
  const isInPath = query.prefix === undefined && text !== prefix
  return { bucket, prefix, object: query.object ?? (isInPath ? text : undefined) }
}

/** The properties of a link to a place. */
export const linkTo = (place: StoragePlace) => {
  const { path, query } = addressOf(place)
  return { to: '/storage/$', params: { _splat: path } as never, search: query as never }
}

export function usePlace(): StoragePlace {
  const { _splat: names = '' } = useParams({ strict: false }) as { readonly _splat?: string }
  const query = useSearch({ strict: false }) as Query
  // The router drops a slash at the end, which tells a prefix from an object.
  const isPrefix = useLocation().pathname.endsWith('/')
  return placeAt({ path: isPrefix ? `${names}/` : names, query })
}

export function useGo(): (place: StoragePlace) => void {
  const router = useRouter()
  return (place) => void router.navigate(linkTo(place))
}

/** The prefixes on the way to a prefix, each with its own last part. */
export function stepsOf(prefix: string): readonly { readonly name: string; readonly to: string }[] {
  const parts = prefix.split('/').slice(0, -1)
  return parts.map((name, nth) => ({ name, to: `${parts.slice(0, nth + 1).join('/')}/` }))
}

/** Characters that turn the direction of the text around them, with which a name shows another ending than it has. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g

/** A key as the page shows it: turns of the direction as their escapes. */
export const shown = (key: string): string =>
  key.replaceAll(TURNS, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`)

/** The last part of a key or a prefix, as the page shows it. */
export const lastPart = (key: string): string => shown(/[^/]*\/?$/.exec(key)?.[0] ?? key)
