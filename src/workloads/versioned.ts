// Instances of versions of workloads, as the pool of instances has them.
import type { Resource } from '#resources/resource.ts'

export type Versioned = Resource & { readonly version: number; readonly sleepAfterMs: number }
/** An instance of a version, by its number from 1. */
export type VersionedInstance = Versioned & { readonly instance: number }

export const keyOfInstance = ({
  id,
  version,
  instance,
}: Pick<VersionedInstance, 'id' | 'version' | 'instance'>): string =>
  `${keysOfVersion({ id, version })}${instance}`

/** The text that the keys of all instances of a version begin with. */
export const keysOfVersion = ({ id, version }: Pick<VersionedInstance, 'id' | 'version'>): string =>
  `${id} ${version} `

/** The workload and the number of the version that a key names, with a space between them. */
export const versionOfKey = (key: string): string => key.slice(0, key.lastIndexOf(' '))

/** The number of the instance that a key names. */
export const instanceOfKey = (key: string): number => Number(key.slice(key.lastIndexOf(' ') + 1))

/** The instances of a version from the first to the `count`-th. */
export const instancesOf = <V extends Pick<Versioned, 'id' | 'version'>>(
  version: V,
  count: number,
): readonly (V & Pick<VersionedInstance, 'instance'>)[] =>
  Array.from({ length: count }, (_, before) => ({ ...version, instance: before + 1 }))
