// First: what comes after it asks for the language as it is loaded.
import './shell/language.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './data/query.ts';
import { router } from './routes.tsx';
import { applyTheme } from './shell/theme.ts';
import { Toasts } from './ui/toast.tsx';
import './styles.css';

applyTheme();
const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Toasts />
      </QueryClientProvider>
    </StrictMode>,
  );
