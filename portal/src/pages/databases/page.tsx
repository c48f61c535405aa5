// Databases: the list, or one of them.
import { useParams } from '@tanstack/react-router'
import { Detail } from './detail.tsx'
import { List } from './list.tsx'
import './databases.css'

export function Page() {
  const { database } = useParams({ strict: false }) as { readonly database?: string }
  return database === undefined ? <List /> : <Detail key={database} name={database} />
}
