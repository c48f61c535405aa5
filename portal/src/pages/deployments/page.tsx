// Deployments: the list, or one of them.
import { useParams } from '@tanstack/react-router'
import { Detail } from './detail.tsx'
import { List } from './list.tsx'

export function Page() {
  const { deployment: id } = useParams({ strict: false }) as { readonly deployment?: string }
  return id === undefined ? <List /> : <Detail key={id} id={id} />
}
