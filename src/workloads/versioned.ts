// Instances of versions of workloads, as the pool of instances has them.
import type { Resource } from '#resources/resource.ts'

export type Versioned = Resource & { readonly version: number; readonly sleepAfterMs: number }
/** An instance of a version, by its number from 1. */
export type VersionedInstance = Versioned & { readonly instance: number }

export const keyOfInstance = ({
  id,
  version,
  instance,
}: Pick<VersionedInstance, 'id' | 'version' | 'instance'>): string => `${id} ${version} ${instance}`

/** The instances of a version from the first to the `count`-th. */
export const instancesOf = <V extends Pick<Versioned, 'id' | 'version'>>(
  version: V,
  count: number,
): readonly (V & Pick<VersionedInstance, 'instance'>)[] =>
  Array.from({ length: count }, (_, before) => ({ ...version, instance: before + 1 }))
