import {
  Activity,
  ArrowLeftRight,
  Bell,
  Blocks,
  Cable,
  CalendarClock,
  Database,
  FileCode2,
  KeyRound,
  LayoutDashboard,
  ListTree,
  Plug,
  ScrollText,
  Send,
  Settings,
  Users,
  Webhook,
  type LucideIcon,
} from 'lucide-react';
import type { LinkProps } from '@tanstack/react-router';

interface NavItem {
  label: string;
  to: NonNullable<LinkProps['to']>;
  icon: LucideIcon;
}

/** What stands at the side of every page of a project, in groups. */
export const nav: readonly { title?: string; items: readonly NavItem[] }[] = [
  { items: [{ label: 'Overview', to: '/projects/$project/overview', icon: LayoutDashboard }] },
  {
    title: 'Work',
    items: [
      { label: 'Operations', to: '/projects/$project/operations', icon: ListTree },
      { label: 'Reads', to: '/projects/$project/reads', icon: CalendarClock },
      { label: 'Deliveries', to: '/projects/$project/deliveries', icon: Send },
      { label: 'Proxy log', to: '/projects/$project/proxy-logs', icon: ArrowLeftRight },
    ],
  },
  {
    title: 'Customers',
    items: [
      { label: 'Installations', to: '/projects/$project/installations', icon: Blocks },
      { label: 'Connections', to: '/projects/$project/connections', icon: Cable },
    ],
  },
  {
    title: 'Sending',
    items: [
      { label: 'Destinations', to: '/projects/$project/destinations', icon: Webhook },
      { label: 'Events', to: '/projects/$project/events', icon: Activity },
      { label: 'Notifications', to: '/projects/$project/notifications', icon: Bell },
    ],
  },
  {
    title: 'Project',
    items: [
      { label: 'Integrations', to: '/projects/$project/integrations', icon: FileCode2 },
      { label: 'Providers', to: '/projects/$project/providers', icon: Plug },
      { label: 'Keys', to: '/projects/$project/keys', icon: KeyRound },
      { label: 'People', to: '/projects/$project/people', icon: Users },
      { label: 'Audit log', to: '/projects/$project/audit-log', icon: ScrollText },
      { label: 'Storage', to: '/projects/$project/storage', icon: Database },
      { label: 'Settings', to: '/projects/$project/settings', icon: Settings },
    ],
  },
];
