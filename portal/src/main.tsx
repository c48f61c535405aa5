// The console starts: theme before the first paint, then the router.
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { followOtherTabs } from './client/entered.ts'
import { queryClient } from './client/queries.ts'
import { applyTheme } from './parts/settings.ts'
import { createConsoleRouter } from './shell/router.tsx'

applyTheme()
followOtherTabs()
const root = document.querySelector('#root')
if (root === null) throw new TypeError('The page has no #root')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={createConsoleRouter()} />
    </QueryClientProvider>
  </StrictMode>,
)
