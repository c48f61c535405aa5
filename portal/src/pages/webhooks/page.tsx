// Webhooks: the list, or one of them.
import { useParams } from '@tanstack/react-router'
import { Detail } from './detail.tsx'
import { List } from './list.tsx'
import './webhooks.css'

export function Page() {
  const { webhook } = useParams({ strict: false }) as { readonly webhook?: string }
  return webhook === undefined ? <List /> : <Detail key={webhook} id={webhook} />
}
