import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { element } from '../shared/elements.ts'
import { newQueryClient } from './api/queries.ts'
import { askAhead } from './frame/ask-ahead.ts'
import { newRouter } from './frame/routes.tsx'
import { reloadWhenThere } from './frame/reload.ts'
import { showTheme } from './parts/theme.ts'

window.addEventListener('vite:preloadError', () => void reloadWhenThere())

const queries = newQueryClient()
// A failure is told where the answer is needed.
void askAhead(queries, location).catch(() => {})
showTheme()
createRoot(element('root')).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={newRouter()} />
    </QueryClientProvider>
  </StrictMode>,
)
