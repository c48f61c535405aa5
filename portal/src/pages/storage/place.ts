// Where in the storage the page is. All of it is in the query of the address: names of buckets and objects may have dots,
// and objects may have anything.
import { useRouter, useSearch } from '@tanstack/react-router'

export type StoragePlace = {
  readonly bucket?: string
  /** Empty or with a slash at its end. */
  readonly prefix?: string
  /** The key of the object that is open. */
  readonly object?: string
}

export const usePlace = (): StoragePlace => useSearch({ strict: false }) as StoragePlace

export function useGo(): (place: StoragePlace) => void {
  const router = useRouter()
  return (place) => void router.navigate({ to: '/storage', search: place as never })
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
