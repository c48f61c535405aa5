// Workloads: the list, or one of them.
import { useParams } from '@tanstack/react-router'
import { Detail } from './detail.tsx'
import { List } from './list.tsx'

export function Page() {
  const { workload: name } = useParams({ strict: false }) as { readonly workload?: string }
  return name === undefined ? <List /> : <Detail key={name} name={name} />
}
