// Storage: the buckets, or what is in one of them.
import { Browser } from './browser.tsx'
import { Buckets } from './buckets.tsx'
import { usePlace } from './place.ts'
import './storage.css'

export function Page() {
  const { bucket } = usePlace()
  return bucket === undefined ? <Buckets /> : <Browser key={bucket} bucket={bucket} />
}
