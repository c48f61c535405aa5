// Reads of the storage.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { changed, queryClient, read } from '#console/client/queries.ts'
import { headObject, listObjects, type Place, type StoredObject } from '#console/client/s3.ts'
import { useNow } from '#console/parts/time/zone.ts'

/** The most that one page has. */
const BUCKETS_MAX = '1000'
const OBJECTS = 's3 objects'

export const useBuckets = () =>
  useQuery(read('GET /v1/storage/buckets', { query: { limit: BUCKETS_MAX } }))

export const useObjects = (bucket: string, prefix: string) =>
  useInfiniteQuery({
    queryKey: [OBJECTS, bucket, prefix],
    queryFn: ({ signal, pageParam }) => listObjects({ bucket, prefix, after: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })

/** An object that a list has is not asked for. */
export const useObject = (place: Place, listed: StoredObject | undefined) =>
  useQuery({
    queryKey: [OBJECTS, place],
    queryFn: ({ signal }) => headObject(place, signal),
    enabled: listed === undefined,
    ...(listed !== undefined && { initialData: listed }),
  })

/** The energy of keeping what is stored, since 00:00 UTC; undefined before it is known. */
export function useKeeping(): bigint | undefined {
  const day = useNow('day').toISOString().slice(0, 10)
  const usage = useQuery(
    read('GET /v1/usage', { query: { from: `${day}T00:00:00Z`, group_by: 'operation' } }),
  )
  if (usage.data === undefined) return undefined
  return BigInt(usage.data.data.find(({ group }) => group === 'storage.standing')?.energy_nj ?? 0)
}

export const bucketsChanged = (): Promise<void> => changed('GET /v1/storage/buckets')
/** The bytes of the bucket change too. */
export const objectsChanged = async (): Promise<void> => {
  await queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === OBJECTS })
  await bucketsChanged()
}
