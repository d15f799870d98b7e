/* Written by `npm run generate`. */
export interface paths {
    "/callbacks/v1/oauth/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The link that connects an account
         * @description Marks the browser with a secret in a cookie and sends it to the provider. Only the browser that opened the link first can end the flow.
         *
         *     Needs no credentials.
         */
        get: operations["oauthStart"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/callbacks/v1/oauth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The redirect URI of every OAuth client
         * @description Needs no credentials.
         */
        get: operations["oauthCallback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/callbacks/v1/oidc/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sign in at the OpenID provider
         * @description Marks the browser with a cookie and sends it to the provider.
         *
         *     Needs no credentials.
         */
        get: operations["oidcStart"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/callbacks/v1/oidc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The redirect URI of the client at the OpenID provider
         * @description Sets the cookie of the session. Where nobody is signed in by it, the page of signing in says why.
         *
         *     Needs no credentials.
         */
        get: operations["oidcCallback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the catalogue by provider
         * @description Needs no credentials.
         */
        get: operations["listProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get one provider of the catalogue
         * @description Needs no credentials.
         */
        get: operations["getProvider"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the projects that the credentials reach
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["listProjects"];
        put?: never;
        /**
         * Make a project and its first API key
         * @description Scopes: `operator`. Not for credentials confined to a group.
         */
        post: operations["createProject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a project
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["getProject"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a project
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        patch: operations["updateProject"];
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the API keys, without their secrets
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Make an API key; its value is shown once
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/api-keys/{apiKeyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an API key, without its secret
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["getApiKey"];
        put?: never;
        post?: never;
        /**
         * Delete an API key
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        delete: operations["deleteApiKey"];
        options?: never;
        head?: never;
        /**
         * Change, activate or deactivate an API key
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        patch: operations["updateApiKey"];
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/jwt-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the public keys for front-end tokens
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["listJWTKeys"];
        put?: never;
        /**
         * Register a public key for front-end tokens
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        post: operations["createJWTKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/jwt-keys/{jwtKeyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a public key
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["getJWTKey"];
        put?: never;
        post?: never;
        /**
         * Delete a public key
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        delete: operations["deleteJWTKey"];
        options?: never;
        head?: never;
        /**
         * Change, activate or deactivate a public key
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        patch: operations["updateJWTKey"];
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/frontend-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make a front-end token for a person
         * @description For a server that does not sign JWTs itself: it asks for one when its page does, for the person who is signed in there. The token reaches what scope `frontend` does, of that group, and ends early when the API key that asked for it is deactivated or deleted.
         *
         *     Scopes: `full`, `develop`.
         */
        post: operations["createFrontendToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/connect-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List connect links, newest first
         * @description A link is gone from the list a week after it expired.
         *
         *     Scopes: `full`, `develop`, `view`, `read`.
         */
        get: operations["listConnectLinks"];
        put?: never;
        /**
         * Make a link with which a person connects and installs
         * @description The link leads to a page of this service, in the name and colours of the project. Who opens it acts as that person in that group: send it to nobody else. It can be opened from any stack, in a mail or in a web view.
         *
         *     Scopes: `full`, `develop`.
         */
        post: operations["createConnectLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/connect-links/{connectLinkId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Take a connect link back
         * @description Tokens that were made for it end with it, on other nodes within two seconds.
         *
         *     Scopes: `full`, `develop`.
         */
        delete: operations["deleteConnectLink"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/connect-links:open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open a connect link
         * @description What the page of the link calls: answers a front-end token, for ten minutes or until the link expires. Called again before that.
         *
         *     Needs no credentials.
         */
        post: operations["openConnectLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/provider-apps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the provider apps, without their secrets
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["listProviderApps"];
        put?: never;
        /**
         * Register an OAuth client; the first of a provider is its default
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        post: operations["createProviderApp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/provider-apps/{providerAppId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a provider app; after the default, the oldest of the provider is it
         * @description Accounts that were connected by it have to be connected again: their tokens cannot be renewed any more.
         *
         *     Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        delete: operations["deleteProviderApp"];
        options?: never;
        head?: never;
        /**
         * Change a provider app
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        patch: operations["updateProviderApp"];
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/integrations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the integrations with their latest revisions
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["listIntegrations"];
        put?: never;
        /**
         * Make one integration from JSON
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        post: operations["createIntegration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/integrations/{integrationIdOrName}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an integration with its latest revision
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["getIntegration"];
        put?: never;
        post?: never;
        /**
         * Delete an integration and all its installations
         * @description The connections of its installations stay.
         *
         *     Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        delete: operations["deleteIntegration"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/integrations/{integrationIdOrName}/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what an integration was, deploy by deploy, newest first
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["listRevisions"];
        put?: never;
        /**
         * Deploy one integration of a manifest
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        post: operations["createRevision"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/integrations:batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Deploy a manifest: make or revise each integration it names, and leave the others alone
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        put: operations["batchUpsertIntegrations"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How one may sign in
         * @description Needs no credentials.
         */
        get: operations["getSignInOptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who is signed in, and what they may do
         * @description Needs the session of a person who is signed in.
         */
        get: operations["getSession"];
        put?: never;
        /**
         * Sign in with e-mail address and password
         * @description Sets the cookie of the session. Whoever has a second factor goes on with `POST /v1/session:verify`.
         *
         *     Needs no credentials.
         */
        post: operations["signIn"];
        /**
         * Sign out
         * @description Needs the session of a person who is signed in.
         */
        delete: operations["signOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session:verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with the second factor, after the password
         * @description Needs no credentials.
         */
        post: operations["verifySecondFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations:look": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What a link of an invitation is for
         * @description Needs no credentials.
         */
        post: operations["lookAtInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invitations:accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Accept an invitation, and sign in
         * @description Who has no account gets one with this password. Who has one proves it by the password, or by being signed in.
         *
         *     Needs no credentials.
         */
        post: operations["acceptInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your own sessions
         * @description Needs the session of a person who is signed in.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sessionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a session of your own
         * @description Needs the session of a person who is signed in.
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/person": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change your own name
         * @description Needs the session of a person who is signed in.
         */
        patch: operations["updatePerson"];
        trace?: never;
    };
    "/v1/person:change-password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change your own password
         * @description Your other sessions end.
         *
         *     Needs the session of a person who is signed in.
         */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/person/second-factor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set up a second factor
         * @description Nothing asks for it until a code was confirmed. `password` is the one that you have: a session alone may not shut you out. Who has none leaves it out.
         *
         *     Needs the session of a person who is signed in.
         */
        post: operations["beginSecondFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/person/second-factor:confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Confirm a second factor by its first code
         * @description Answers the recovery codes, which are shown once. Your other sessions end.
         *
         *     Needs the session of a person who is signed in.
         */
        post: operations["confirmSecondFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/person/second-factor:remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove your second factor
         * @description Your other sessions end.
         *
         *     Needs the session of a person who is signed in.
         */
        post: operations["removeSecondFactor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the people of a project
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["listMembers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/members/{personId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove somebody from a project
         * @description What they have open in a browser loses the project at once, on other nodes within two seconds.
         *
         *     Scopes: `full`. Not for credentials confined to a group.
         */
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        /**
         * Give somebody another role
         * @description Scopes: `full`. Not for credentials confined to a group.
         */
        patch: operations["updateMember"];
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the invitations that wait, newest first
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["listInvitations"];
        put?: never;
        /**
         * Invite somebody to a project by a link
         * @description The link holds for a week, once, and for this e-mail address. It is shown once; an invitation for the same address takes the place of the one before.
         *
         *     Scopes: `full`. Not for credentials confined to a group.
         */
        post: operations["createInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/invitations/{invitationId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Take an invitation back
         * @description Scopes: `full`. Not for credentials confined to a group.
         */
        delete: operations["deleteInvitation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List administrative changes and disclosures of credentials, newest first
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        get: operations["listAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/audit-log:export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Take the audit log out, whole or of a time, newest first
         * @description An answer that breaks off is not whole: ask again.
         *
         *     Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        get: operations["exportAuditLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/oauth-connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start to connect an account through OAuth
         * @description Answers the link to open in a popup, or, with `returnUrl`, to send the browser to. Only the browser that opened the link can end the flow, within ten minutes, once. That guards against an answer of the provider that is smuggled into another browser, and against a consent that is asked for from another one. It does not tell who opens the link: who does connects an account of theirs to the group, so hand it only to the person who is signed in with you, and to nobody by mail.
         *
         *     Scopes: `full`, `develop`, `frontend`.
         */
        post: operations["oauthConnect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/connections/{connectionId}:oauth-update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Start to connect an account again
         * @description Answers the link to open. The connection keeps its credentials until the new ones are here. Only the browser that opened the link can end the flow, within ten minutes, once. That guards against an answer of the provider that is smuggled into another browser, and against a consent that is asked for from another one. It does not tell who opens the link: who does connects an account of theirs to the group, so hand it only to the person who is signed in with you, and to nobody by mail.
         *
         *     Scopes: `full`, `develop`, `frontend`.
         */
        patch: operations["oauthUpdate"];
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/connections:generate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Connect an account with credentials at hand
         * @description Needs `provider`, `groupRef`, `consumerRef` and the block of credentials that fits the provider.
         *
         *     Scopes: `full`, `develop`, `frontend`.
         */
        post: operations["generateConnection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List connections, newest first
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["listConnections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/connections/{connectionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a connection
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["getConnection"];
        put?: never;
        post?: never;
        /**
         * Delete a connection
         * @description Its authorization is ended at the provider where that is possible. Installations that use it become unhealthy.
         *
         *     Scopes: `full`, `develop`, `frontend`.
         */
        delete: operations["deleteConnection"];
        options?: never;
        head?: never;
        /**
         * Change the description or the credentials of a connection
         * @description Account and inputs, which may decide where credentials are sent, change only together with new credentials; those are tried first. A token changes its own consumer's connections.
         *
         *     Scopes: `full`, `develop`, `frontend`.
         */
        patch: operations["updateConnection"];
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what happened to connections, installations and destinations, newest first
         * @description Scopes: `full`, `develop`, `view`, `read`.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/installations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the installations of a project, newest first
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["listInstallationsForProject"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the installations of an integration, newest first
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["listInstallations"];
        put?: never;
        /**
         * Install an integration for a group
         * @description The group must have a connection to the provider. The config is checked whole; unless `skipSampling`, the provider is asked whether the named fields exist, and one record of each scheduled object is read.
         *
         *     Scopes: `full`, `develop`, `frontend`.
         */
        post: operations["createInstallation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an installation
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["getInstallation"];
        put?: never;
        post?: never;
        /**
         * Delete an installation
         * @description Its connection goes, too, unless another installation uses it; with a front-end token only if it is of that consumer.
         *
         *     Scopes: `full`, `develop`, `frontend`.
         */
        delete: operations["deleteInstallation"];
        options?: never;
        head?: never;
        /**
         * Change an installation
         * @description What `updateMask` names is replaced by what `installation` holds there. A mask on an object replaces its whole config: what is left out is gone.
         *
         *     Scopes: `full`, `develop`, `frontend`.
         */
        patch: operations["updateInstallation"];
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}/config-content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change one object's config by JSON Patch
         * @description The changes are applied together or not at all. Paths start at the config of the object.
         *
         *     Scopes: `full`, `develop`, `frontend`.
         */
        patch: operations["patchObjectConfigContent"];
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/installations/{installationId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an installation by its id alone
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["getInstallationForProject"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/installations/{installationId}/configs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what an installation was configured to, newest first
         * @description The first is in force. To restore one, send its `content` to updateInstallation with the mask `config.content`.
         *
         *     Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["listConfigs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}/metadata": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the fields of an object of an integration
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["getObjectMetadataForInstallation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/providers/{provider}/objects/{objectName}/metadata": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the fields of an object of a provider
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["getObjectMetadataForConnection"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/integrations/{integrationId}/revisions/{revisionId}:hydrate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a revision with the live metadata of a connection's account
         * @description An object that cannot be described carries an `error`; the others have their metadata.
         *
         *     Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["getHydratedRevision"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the operations of a project, newest first
         * @description Across installations. What is asked for may be rare: a page looks at 2,000 operations at the most, and is short or empty then; it is the last when `pagination.done` is true. Those that are under way come in the order of their queue.
         *
         *     Scopes: `full`, `develop`, `view`, `read`, `write`.
         */
        get: operations["listOperationsForProject"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the operations of an installation, newest first
         * @description Scopes: `full`, `develop`, `view`, `read`, `write`.
         */
        get: operations["listOperations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/operations/{operationId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an operation
         * @description Scopes: `full`, `develop`, `view`, `read`, `write`.
         */
        get: operations["getOperation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/operations/{operationId}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what happened in an operation
         * @description Scopes: `full`, `develop`, `view`, `read`, `write`.
         */
        get: operations["listOperationLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/operations/{operationId}/exchanges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what was sent to the provider for an operation, and what it answered, oldest first
         * @description Each request of a write or a read, without the credential, and each answer. They appear within a second and are kept for a week (`SVC_EXCHANGE_KEEP_DAYS`). A node that dies takes the last of them along.
         *
         *     Scopes: `full`, `develop`, `view`, `read`.
         */
        get: operations["listOperationExchanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/operations/{operationId}/records": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the outcomes of the records of an operation, in the order of the request
         * @description Scopes: `full`, `develop`, `view`, `read`, `write`.
         */
        get: operations["listOperationRecords"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/operations/{operationId}/records/{index}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a record of an operation with what was asked to be written
         * @description Scopes: `full`, `develop`, `view`, `read`.
         */
        get: operations["getOperationRecord"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/operations/{operationId}:resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell what became of records of unknown outcome
         * @description For records whose answer from the provider was lost: of those named in `records`, or with `resolution` of all. Recorded with who said it and when; the status and the counts of the operation stay.
         *
         *     Scopes: `full`, `develop`, `write`, `remediate`.
         */
        post: operations["resolveOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/operations/{operationId}:retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write the records of an operation again that failed
         * @description Those that failed or were resolved as `notApplied`, as they were planned, asynchronously, in a new operation. What the config and the manifest forbid by now is refused or left away. Refused while a record is of unknown outcome, and once the installation has a connection of another account. An operation is repeated once: a second call answers the operation of the first.
         *
         *     Scopes: `full`, `develop`, `write`, `remediate`.
         */
        post: operations["retryOperation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/operations:retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write the records of many operations again that failed
         * @description Each as `retryOperation` does, once, the oldest first: what failed of one record is written again in the order in which it was accepted, by the clock of the database, and an auto-batch as of when it left. The clocks of nodes, and the time that an auto-batch gathers, change that only where more than 1,000 operations lie between. At most 50 in one request, and `pageToken` goes on where it ended until `pagination.done`. What is made by it is not part of it. Asked again, it answers the same operations.
         *
         *     Scopes: `full`, `develop`, `write`, `remediate`.
         */
        post: operations["retryOperations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/operations:cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End writes that wait, and send nothing more of them
         * @description Of those that the filter finds, the newest first: at most 50 in one request, and `pageToken` goes on where it ended until `pagination.done`. Records that were not done end as failed, and `:retry` writes them after all. What is being sent, what may have been sent and what gathers for a batch goes on.
         *
         *     Scopes: `full`, `develop`, `write`, `remediate`.
         */
        post: operations["cancelOperations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}/write-preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show what a write would send by a config
         * @description The plan of a record after defaults, field settings and mappings of a config that is not saved, and the calls that it would make. Nothing is sent, and the provider is not asked.
         *
         *     Scopes: `full`, `develop`, `write`, `frontend`.
         */
        post: operations["previewWrite"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/reads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List how the objects of all installations are read
         * @description By installation, the oldest first, and by object. A change of a config shows within about two seconds, and later behind a deploy to many installations: they are followed in the order of their changes. What is asked for may be rare: a page looks at 5,000 reads at the most, and is short or empty then; it is the last when `pagination.done` is true.
         *
         *     Scopes: `full`, `develop`, `view`, `read`.
         */
        get: operations["listReadsForProject"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}/reads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List how the objects of an installation are read
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["listReads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}/objects/{objectName}/backfill-progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get how far the history of an object is read
         * @description Scopes: `full`, `develop`, `view`, `read`, `frontend`.
         */
        get: operations["getBackfillProgress"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}/read-preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show one record as a config would have it delivered
         * @description Reads one record of the customer’s account by a config that is not saved. Nothing is delivered, and no schedule moves. A key with the scope `frontend` alone has to be confined to a group. The audit log has `connection.sampled`.
         *
         *     Scopes: `full`, `develop`, `read`, `frontend`.
         */
        post: operations["previewRead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/destinations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List destinations, newest first
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["listDestinations"];
        put?: never;
        /**
         * Create a destination
         * @description What a type needs stands in `metadata`, and in `secrets` what nobody may see. The signing key of a webhook is made here unless it is given: `GET …/destinations/{destination}?includeSecrets=true` shows it.
         *
         *     Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        post: operations["createDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/destinations/{destination}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a destination
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["getDestination"];
        put?: never;
        post?: never;
        /**
         * Delete a destination
         * @description Refused while deliveries wait for it, unless `cancelPending`: then they are canceled, those that had ended before and wait again are as they were, and the audit log says how many.
         *
         *     Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        delete: operations["deleteDestination"];
        options?: never;
        head?: never;
        /**
         * Change a destination
         * @description The masks are `name`, `metadata.<member>` and `secrets.<member>`; null takes a member away. What waits is sent as the destination is then. The type never changes.
         *
         *     Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        patch: operations["updateDestination"];
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/destinations/{destination}:rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Make new secrets for a destination
         * @description Answers with the new signing key. For the hours of `overlapHours` messages are signed with the key of before, too, so that receivers may change theirs meanwhile; so they are with those of earlier rotations whose time is not over. The answer comes after two seconds, when every node signs with the new key: a receiver may verify with it alone at once. With `overlapHours` 0 all former keys end.
         *
         *     Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        post: operations["rotateDestinationSecrets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/destinations/{destination}:enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable a destination
         * @description What waited meanwhile is delivered.
         *
         *     Scopes: `full`, `develop`, `remediate`. Not for credentials confined to a group.
         */
        post: operations["enableDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/destinations/{destination}:disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable a destination
         * @description What is to be delivered there waits until it is enabled; what waits for longer than messages are kept (`SVC_MESSAGE_KEEP_DAYS`) is dropped.
         *
         *     Scopes: `full`, `develop`, `remediate`. Not for credentials confined to a group.
         */
        post: operations["disableDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/destinations/{destination}:test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message to try a destination
         * @description Sends one message with `action: "test"` and no records, once, now, also to a disabled destination, and answers what became of it.
         *
         *     Scopes: `full`, `develop`, `remediate`. Not for credentials confined to a group.
         */
        post: operations["testDestination"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries, newest first
         * @description Scopes: `full`, `develop`, `view`, `read`.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a delivery with its attempts
         * @description Scopes: `full`, `develop`, `view`, `read`.
         */
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/deliveries/{deliveryId}:retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description Of one that was delivered or failed for good: it is queued again at once, with the same id and body, and tried as often as a new one.
         *
         *     Scopes: `full`, `develop`, `remediate`.
         */
        post: operations["retryDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages/{messageId}/result": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the records of a message that links to them
         * @description The `downloadUrl` of a message whose only record is too large for it. Good while its delivery goes on, and 15 minutes after.
         *
         *     Needs no credentials.
         */
        get: operations["downloadMessageResult"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/deliveries:replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send many deliveries again
         * @description Messages that are kept are sent again, the oldest first, with the same id and body and `x-svc-replay: true`, behind everything that is delivered for the first time. What waits for an attempt is left out. Messages that come later are not part of it.
         *
         *     Scopes: `full`, `develop`, `remediate`. Not for credentials confined to a group.
         */
        post: operations["replayDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List replays, newest first
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["listReplays"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/replays/{replayId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a replay with its progress
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["getReplay"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/replays/{replayId}:cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a replay
         * @description Nothing more is sent: what waits for an attempt is as it was before. What was sent stays sent. Canceling again changes nothing.
         *
         *     Scopes: `full`, `develop`, `remediate`. Not for credentials confined to a group.
         */
        post: operations["cancelReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/storage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what a project holds, by kind
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["getStorage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/erasures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Erase what was kept of a group or of the project
         * @description Operations with their records and logs, exchanges with providers, messages with their deliveries, what is remembered of associations that were read, events, lines of the proxy log and connect links that were made until now are removed by a worker, and the names of groups and people without a connection. Messages that wait are sent no more. Connections, installations and the audit log stay.
         *
         *     Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        post: operations["createErasure"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/erasures/{erasureId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an erasure with what it removed
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["getErasure"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/exports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Export a project with its connections
         * @description Integrations with their revisions, provider apps, keys, groups, connections with their credentials, installations with their configs, destinations with their secrets, routes of notifications, and how far each object was read. Operations, messages and other history stay behind. All of it is sealed with the passphrase.
         *
         *     Scopes: `full`. Not for credentials confined to a group.
         */
        post: operations["exportProject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/exports:undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Use the connections again that an export moved, and no more where its file came in
         * @description Scopes: `full`. Not for credentials confined to a group.
         */
        post: operations["undoExport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/imports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import an exported project into this one
         * @description Takes the scope `operator`, since the file says what stands in the tables: import files of servers that you trust alone. All of it comes in, or nothing. Ids stay as they are, and what is there under its id is left as it is, so that an import can be repeated; connections that the file hands over since (`move`) get its credentials, and keys that were revoked since are revoked. What clashes with something else is refused by name.
         *
         *     Scopes: `operator`. Not for credentials confined to a group.
         */
        post: operations["importProject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show which events are told, and where
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["getNotifications"];
        /**
         * Say which events are told, and where
         * @description Replaces what an earlier call said; the same call again changes nothing. It stands beside the topics and their routes: a destination is told once, however many routes lead there.
         *
         *     Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        put: operations["setNotifications"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/topics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List topics, newest first
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["listTopics"];
        put?: never;
        /**
         * Create a topic
         * @description Events are routed to topics, and topics to destinations.
         *
         *     Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        post: operations["createTopic"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/topics/{topicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a topic and its routes
         * @description Notifications that are made already are delivered.
         *
         *     Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        delete: operations["deleteTopic"];
        options?: never;
        head?: never;
        /**
         * Rename a topic
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        patch: operations["updateTopic"];
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/notification-event-topic-routes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the routes from events to topics, newest first
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["listNotificationEventTopicRoutes"];
        put?: never;
        /**
         * Route events of a type to a topic
         * @description A route that exists already is answered as it is.
         *
         *     Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        post: operations["createNotificationEventTopicRoute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/topic-destination-routes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the routes from topics to destinations, newest first
         * @description Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["listTopicDestinationRoutes"];
        put?: never;
        /**
         * Route a topic to a destination
         * @description A route that exists already is answered as it is.
         *
         *     Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        post: operations["createTopicDestinationRoute"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/notification-event-topic-routes/{routeId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a route from events to a topic
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        delete: operations["deleteNotificationEventTopicRoute"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/topic-destination-routes/{routeId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a route from a topic to a destination
         * @description Scopes: `full`, `develop`. Not for credentials confined to a group.
         */
        delete: operations["deleteTopicDestinationRoute"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/proxy-logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the calls through the proxy of the last seven days, newest first
         * @description Scopes: `full`, `develop`, `view`, `read`.
         */
        get: operations["listProxyLogs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find something by its id, a reference, a name or a record id
         * @description Twenty hits at the most, what is called exactly so first. Names and references are found by their beginning, whatever the case. Keys, provider apps, links and entries of the audit log are found with the scope `full` alone; credentials of a group find what is of that group, and no members. A provider’s id of a record leads to the newest operations that wrote the record, or failed to, and to the newest deliveries that carry it; their name is then the object and the id.
         *
         *     Scopes: `full`, `develop`, `view`, `read`.
         */
        get: operations["searchProject"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get what needs attention in a project, and how its work went
         * @description Answered from counts that are kept: it takes as long with a million operations as with none. `activity` is behind by two seconds.
         *
         *     Scopes: `full`, `develop`, `view`, `read`. Not for credentials confined to a group.
         */
        get: operations["getOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectIdOrName}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow what changes in a project
         * @description Server-sent events, at most four a second. Each event `change` names what changed, and no more of it than its id and status; `resync` asks to look at everything again, as after a gap. With `Last-Event-ID` a stream goes on where it broke off, at any node, within a minute. What changed before it was open it does not tell: read that again once it is. It ends with the credentials, or when the node stops: connect again.
         *
         *     Scopes: `full`, `develop`, `view`, `read`.
         */
        get: operations["streamChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/write/v1/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create, update or delete records in the customer’s SaaS
         * @description Scopes: `full`, `develop`, `write`.
         */
        post: operations["writeRecords"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/read/v1/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read the records of an object into its destination
         * @description With a range of its own: the watermark of the schedule stays where it is. The operation is a success when every page is durable for delivery.
         *
         *     Scopes: `full`, `develop`, `read`, `remediate`.
         */
        post: operations["readRecords"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/read/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}:pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause the reads of an installation
         * @description No scheduled read begins, and what is under way, a backfill included, stands where it is. Reads on demand go on. It is no fault when it is so already.
         *
         *     Scopes: `full`, `develop`, `read`, `remediate`.
         */
        post: operations["pauseReads"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/read/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}:unpause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let the reads of an installation go on
         * @description What was under way goes on at its page. The next tick of the schedule reads everything that changed meanwhile. It is no fault when nothing is paused.
         *
         *     Scopes: `full`, `develop`, `read`, `remediate`.
         */
        post: operations["unpauseReads"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/search/v1/projects/{projectIdOrName}/integrations/{integrationId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find records by the values of their fields
         * @description Answers the first page of the provider with records that pass all filters. Filters that the provider is not asked for (HubSpot takes three, and none for objects without a time of change) are applied to its first three pages at the most; `hasMore` says that more may come behind what was looked at.
         *
         *     Scopes: `full`, `develop`, `read`.
         */
        post: operations["searchRecords"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * AcceptInvitationRequest
         * @description `email` where the link names none. `password`: the one that is to be set, or the one of the account that exists.
         */
        AcceptInvitationRequest: {
            /** @description What stands behind `#token=` in the link. */
            token: string;
            /** @description Letters count the same in upper and lower case. */
            email?: string;
            name?: string;
            password?: string;
        };
        /** Activity */
        Activity: {
            stepSeconds: number;
            /** @description When each step begins, in seconds since the epoch; the last one goes on. */
            times: number[];
            writes: components["schemas"]["EndedSeries"];
            reads: components["schemas"]["EndedSeries"];
            deliveries: components["schemas"]["EndedSeries"];
            /** @description Writes and reads that failed in all of the time, by category. */
            failures: {
                [key: string]: number;
            };
        };
        /** AmqpMetadata */
        AmqpMetadata: {
            /**
             * @description `amqps://host:port/vhost`, without user and password. `amqp:` is not encrypted.
             * @example amqps://rabbit.example.com/crm
             */
            url: string;
            /**
             * @description It must exist. The empty one takes the name of a queue for the routing key.
             * @example crm-records
             */
            exchange: string;
            /**
             * @description The routing key of each message. It may name `{{id}}`, `{{object}}`, `{{groupRef}}`, `{{installationId}}`, `{{projectId}}`, `{{type}}`, `{{time}}`, `{{year}}`, `{{month}}`, `{{day}}`, `{{hour}}`.
             * @default {{type}}.{{object}}
             * @example {{type}}.{{object}}
             */
            routingKeyTemplate?: string;
        };
        /** AmqpSecrets */
        AmqpSecrets: {
            /** @example svc */
            username: string;
            /** @example a-long-password */
            password: string;
        };
        /** ApiKey */
        ApiKey: {
            /** @description The public part of the key, by which it is managed. */
            id: string;
            /** @description The key itself; shown once, when it is made. */
            key?: string;
            label: string;
            scopes: components["schemas"]["Scope"][];
            /** @description The only group that the key reaches. */
            groupRef?: string;
            /** Format: uuid */
            projectId: string;
            active: boolean;
            /**
             * Format: date-time
             * @description When it stops to hold.
             */
            expiresAt?: string;
            /**
             * Format: date-time
             * @description When it was used last, to the minute.
             */
            lastUsedAt?: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            createTime: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updateTime: string;
        };
        /** ApiKeyOpts */
        ApiKeyOpts: {
            /** @enum {unknown} */
            attachmentType: "header" | "query";
            header?: {
                name: string;
                valuePrefix?: string;
            };
            query?: {
                name: string;
            };
            docsURL?: string;
        };
        /** ApiKeyPage */
        ApiKeyPage: {
            results: components["schemas"]["ApiKey"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** Association */
        Association: {
            to: {
                id: string;
            };
            types: {
                associationCategory: string;
                associationTypeId: number;
            }[];
        };
        /** AssociationsState */
        AssociationsState: {
            /** @description The provider's names of the associated objects. */
            objects: string[];
            /** @description Cron with five fields, in UTC. Missing: they are not compared. */
            schedule?: string;
            paused?: {
                /**
                 * @description `object`, `installation`: by a call; `failures`: by itself, after too many failures; `removed`: a deploy took the object away.
                 * @enum {unknown}
                 */
                reason: "object" | "installation" | "failures" | "removed";
                /**
                 * Format: date-time
                 * @description Since when. RFC 3339, UTC.
                 */
                since: string;
                note?: string;
            };
            /**
             * Format: date-time
             * @description When they are compared next. RFC 3339, UTC.
             */
            nextRunTime?: string;
            /** @description Runs that failed one after the other. */
            failures?: number;
            lastRun?: components["schemas"]["ReadRunSummary"];
        };
        /** Attention */
        Attention: {
            /** @enum {unknown} */
            kind: "unknownOutcomes" | "badConnections" | "unhealthyInstallations" | "deadLetters" | "disabledDestinations" | "failingDestinations" | "failingReads" | "pausedReads";
            /** @description 1,000 stands for as many or more. */
            count: number;
            /** @description The query of the list that shows them. */
            filter: {
                [key: string]: string;
            };
        };
        /**
         * AuditAction
         * @description What was done to what. `connection.disclosed`, `destination.disclosed`: its credentials were shown; `connection.sampled`: one record of the account was shown, as a config would have it delivered; `project.exported`: all of them left, sealed with a passphrase.
         * @enum {unknown}
         */
        AuditAction: "project.created" | "project.updated" | "project.exported" | "project.imported" | "project.takenBack" | "apiKey.created" | "apiKey.updated" | "apiKey.deleted" | "jwtKey.created" | "jwtKey.updated" | "jwtKey.deleted" | "frontendToken.created" | "connectLink.created" | "connectLink.opened" | "connectLink.deleted" | "providerApp.created" | "providerApp.updated" | "providerApp.deleted" | "integration.created" | "integration.revised" | "integration.deleted" | "deploy.done" | "connection.authorizing" | "connection.refused" | "connection.created" | "connection.updated" | "connection.deleted" | "connection.refreshed" | "connection.disclosed" | "connection.sampled" | "installation.created" | "installation.updated" | "installation.deleted" | "operation.resolved" | "operation.retried" | "operation.canceled" | "read.paused" | "read.unpaused" | "destination.created" | "destination.updated" | "destination.deleted" | "destination.disclosed" | "destination.rotated" | "destination.enabled" | "destination.disabled" | "destination.tested" | "delivery.retried" | "replay.started" | "replay.canceled" | "erasure.started" | "erasure.done" | "topic.created" | "topic.updated" | "topic.deleted" | "eventTopicRoute.created" | "eventTopicRoute.deleted" | "topicDestinationRoute.created" | "topicDestinationRoute.deleted" | "notifications.changed" | "invitation.created" | "invitation.deleted" | "member.joined" | "member.updated" | "member.removed" | "person.updated";
        /** AuditEntry */
        AuditEntry: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            time: string;
            action: components["schemas"]["AuditAction"];
            target: {
                type: string;
                id: string;
            };
            actor: {
                /**
                 * @description `jwt`: a front-end token; `person`: somebody who is signed in; `operator`: somebody with a shell on the server; `service`: nobody asked.
                 * @enum {unknown}
                 */
                kind: "apiKey" | "jwt" | "person" | "operator" | "service";
                /** @description The id of the API key, the `kid` of the token, or of one that svc made the id of the key or link behind it. */
                keyId?: string;
                groupRef?: string;
                consumerRef?: string;
                /** Format: uuid */
                personId?: string;
                /** @description Of the person, at that time. */
                email?: string;
            };
            /** @description From where the request came. */
            address?: string;
            requestId?: string;
            /** @description What was changed, by name; never a secret. */
            details?: {
                [key: string]: unknown;
            };
        };
        /** AuditEntryPage */
        AuditEntryPage: {
            results: components["schemas"]["AuditEntry"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** AuditTable */
        AuditTable: string;
        /** Backfill */
        Backfill: {
            defaultPeriod: {
                /** @description Days in the past; 0 means no backfill. */
                days?: number;
                /** @description When true, all history; wins over `days`. */
                fullHistory?: boolean;
            };
            /** @description Replace the filters of the object during the backfill. */
            fieldFilters?: components["schemas"]["FieldFilter"][];
        };
        /** BackfillProgress */
        BackfillProgress: {
            installationId: string;
            objectName: string;
            operationId: string;
            /** @description Records that were read so far. */
            recordsProcessed: number;
            /** @description As many as there were when it began, where the provider counts. */
            recordsEstimatedTotal?: number;
            /** @enum {unknown} */
            status: "in_progress" | "success" | "failure";
            /**
             * Format: date-time
             * @description When it will have ended at its pace so far. RFC 3339, UTC.
             */
            expectedEndTime?: string;
            /**
             * Format: date-time
             * @description When it began. RFC 3339, UTC.
             */
            createTime: string;
            /**
             * Format: date-time
             * @description When it last moved. RFC 3339, UTC.
             */
            updateTime: string;
        };
        /** BasicOpts */
        BasicOpts: {
            apiKeyAsBasic?: boolean;
            apiKeyAsBasicOpts?: {
                /** @enum {unknown} */
                fieldUsed: "username" | "password";
                /** @description A template around the key: `{{apiKey}}` stands for it. */
                keyFormat?: string;
            };
            docsURL?: string;
        };
        /** BatchItem */
        BatchItem: {
            record: components["schemas"]["RecordFields"];
            associations?: components["schemas"]["Association"][];
            /** @description Given back with the result of the record. */
            reference?: string;
        };
        /**
         * BatchWritten
         * @description Of a batch, whatever became of its records.
         */
        BatchWritten: {
            /** Format: uuid */
            operationId: string;
            successCount: number;
            failureCount: number;
            /** @description In the order of the request. */
            results: (components["schemas"]["RecordDone"] | components["schemas"]["RecordFailed"])[];
            errors: components["schemas"]["WriteFailure"][];
            warnings?: {
                message: string;
            }[];
        };
        /**
         * BeginSecondFactorRequest
         * @description May be left away.
         */
        BeginSecondFactorRequest: {
            password?: string;
        } | null;
        /** Branding */
        Branding: {
            /** @description An image, by HTTPS. */
            logoUrl?: string;
            /** @description Such as `#0f62fe`. Buttons and links on a light background. */
            accentColor?: string;
            /** @description Such as `#0f62fe`. The same on a dark background; default: `accentColor`. */
            accentColorDark?: string;
        };
        /** BrowserPage */
        BrowserPage: string;
        /** CancelOperationsRequest */
        CancelOperationsRequest: {
            /** @description As of the list, of writes in progress. */
            filter: {
                /**
                 * @description With a failure of this category; of those that ended, unless `status` says `in_progress`.
                 * @enum {unknown}
                 */
                errorCategory?: "validation" | "permission" | "auth" | "notFound" | "conflict" | "rateLimit" | "providerDown" | "unknownOutcome" | "internal";
                /** @description Of this object, by the name that the provider knows it by. */
                object?: string;
                groupRef?: string;
                installationId?: string;
                /**
                 * Format: date-time
                 * @description Accepted at this time or later.
                 */
                from?: string;
                /**
                 * Format: date-time
                 * @description Accepted before this time.
                 */
                to?: string;
            };
            /** @description Answers the operations that are not done yet; does nothing. */
            dryRun?: boolean;
            /** @description `nextPageToken` of the page before. */
            pageToken?: string;
        };
        /** CanceledOperation */
        CanceledOperation: {
            operationId: string;
            /** @description Why it goes on. */
            refused?: {
                code: string;
                detail: string;
            };
        };
        /** CanceledOperations */
        CanceledOperations: {
            results: components["schemas"]["CanceledOperation"][];
            pagination: components["schemas"]["Pagination"];
            /** @description Of this page; in a dry run, those that may be. */
            canceled: number;
            refused: number;
        };
        /** Change */
        Change: {
            /** @description What changed: `operation`, `delivery`, `connection`, `installation`, `destination`, `event`, `read`, or another target of the audit log. A page ignores what it does not know. */
            type: string;
            /** @description Which; of a `read` the installation. */
            id: string;
            /** @description Of an operation or a delivery its status, of an event its type, else what was done, such as `updated`. */
            status?: string;
        };
        /**
         * ChangePasswordRequest
         * @description `currentPassword` is left out by who has none.
         */
        ChangePasswordRequest: {
            currentPassword?: string;
            /** @description Neither the e-mail address nor the name of a project of theirs. */
            newPassword: string;
        };
        /**
         * Changes
         * @description The `data` of each event `change` of the stream. An event `resync` says that something may have changed which is not named: look at everything again.
         */
        Changes: {
            changes: components["schemas"]["Change"][];
            /** @description Types of which more changed than is named: look at their lists again. */
            more: string[];
        };
        /** Config */
        Config: {
            id: string;
            revisionId: string;
            /** @description RFC 3339, UTC. */
            createTime: string;
            createdBy: string;
            content: components["schemas"]["ConfigContent"];
        };
        /** ConfigContent */
        ConfigContent: {
            /** @description The SaaS API; the same as the integration names. */
            provider: string;
            read?: {
                objects: {
                    [key: string]: components["schemas"]["ReadObjectConfig"];
                };
            };
            write?: {
                objects?: {
                    [key: string]: components["schemas"]["WriteObjectConfig"];
                };
            };
            subscribe?: {
                objects: {
                    [key: string]: components["schemas"]["SubscribeObjectConfig"];
                };
            };
            proxy?: components["schemas"]["ProxyConfig"];
        };
        /** ConfigPage */
        ConfigPage: {
            results: components["schemas"]["Config"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** ConfirmSecondFactorRequest */
        ConfirmSecondFactorRequest: {
            /** @description What the app shows. */
            code: string;
        };
        /** ConnectLink */
        ConnectLink: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            projectId: string;
            /** @description The link; shown once, when it is made. Who has it acts as the person. */
            url?: string;
            /** @description The name of the integration. */
            integration: string;
            groupRef: string;
            groupName?: string;
            consumerRef: string;
            consumerName?: string;
            returnUrl?: string;
            singleUse: boolean;
            /**
             * Format: date-time
             * @description When it stops to hold.
             */
            expiresAt: string;
            /**
             * Format: date-time
             * @description When it was opened first.
             */
            openedAt?: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            createTime: string;
        };
        /** ConnectLinkPage */
        ConnectLinkPage: {
            results: components["schemas"]["ConnectLink"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** ConnectLinkProject */
        ConnectLinkProject: {
            id: string;
            appName: string;
            branding: components["schemas"]["Branding"];
        };
        /**
         * ConnectUrl
         * @description The link to open in the browser; it leads here first, then to the provider.
         */
        ConnectUrl: string;
        /** Connection */
        Connection: {
            id: string;
            projectId: string;
            provider: string;
            providerApp?: components["schemas"]["ProviderApp"];
            group: components["schemas"]["Group"];
            consumer: components["schemas"]["Consumer"];
            providerWorkspaceRef?: string;
            providerConsumerRef?: string;
            /** @description RFC 3339, UTC. */
            createTime: string;
            /** @description RFC 3339, UTC. */
            updateTime?: string;
            /** @enum {unknown} */
            authScheme: "none" | "apiKey" | "basic" | "oauth2/authorizationCode" | "oauth2/authorizationCodePKCE" | "oauth2/clientCredentials" | "oauth2/password" | "custom";
            /**
             * @description `created`: new or just refreshed. `working`: a provider call succeeded. `bad_credentials`: connect again.
             * @enum {unknown}
             */
            status: "created" | "working" | "bad_credentials";
            /** @description Why the credentials do not work, or are not used. */
            statusDetail?: string;
            /**
             * @description An import set these tokens aside, since they did not pass their trial and the connection of the account keeps its own: nothing uses them, and nobody needs to connect again for them.
             * @enum {boolean}
             */
            isAside?: true;
            /** @description Scopes of the provider app that were not granted: calls that need them are refused. There when there are any and the provider says what it granted. */
            missingScopes?: string[];
            oauth2AuthorizationCode?: {
                accessToken?: components["schemas"]["Token"];
                refreshToken?: components["schemas"]["Token"];
                scopes?: string[];
            };
            apiKey?: string;
            /**
             * Format: date-time
             * @description When the access token in place was asked for.
             */
            tokenIssueTime?: string;
            /**
             * Format: date-time
             * @description When it ends; it is renewed before.
             */
            tokenExpireTime?: string;
            rateBudget?: components["schemas"]["RateBudget"];
            providerMetadata?: components["schemas"]["ProviderMetadata"];
        };
        /** ConnectionPage */
        ConnectionPage: {
            results: components["schemas"]["Connection"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** ConnectionRequest */
        ConnectionRequest: {
            /** @description A key of GET /v1/providers. */
            provider?: string;
            /** @description The group, by the builder's own id. */
            groupRef?: string;
            /** @description Default: groupRef. Front-end tokens name a group that has no name yet, and rename none. */
            groupName?: string;
            /** @description The person who connects, by the builder's own id. */
            consumerRef?: string;
            /** @description Default: consumerRef. */
            consumerName?: string;
            /** @description The account at the provider, such as a subdomain. */
            providerWorkspaceRef?: string;
            providerMetadata?: components["schemas"]["ProviderMetadata"];
            /** @description The API key. */
            apiKey?: string;
            basicAuth?: {
                username: string;
                password: string;
            };
            /** @description Values by the names of the provider's `customOpts.inputs`. */
            customAuth?: {
                [key: string]: string;
            };
            oauth2ClientCredentials?: components["schemas"]["OAuth2ClientCredentials"];
            oauth2PasswordCredentials?: components["schemas"]["OAuth2PasswordCredentials"];
            oauth2AuthorizationCode?: components["schemas"]["ImportedTokens"];
        };
        /** Consumer */
        Consumer: {
            consumerRef: string;
            consumerName: string;
            projectId: string;
            /** @description RFC 3339, UTC. */
            createTime: string;
            /** @description RFC 3339, UTC. */
            updateTime?: string;
        };
        /** CreateApiKeyRequest */
        CreateApiKeyRequest: {
            label: string;
            /** @description Only `full` unless given. */
            scopes?: components["schemas"]["Scope"][];
            /** @description Confines the key to this group. */
            groupRef?: string;
            /**
             * Format: date-time
             * @description When the key stops to hold; without it, never.
             */
            expiresAt?: string;
        };
        /** CreateConnectLinkRequest */
        CreateConnectLinkRequest: {
            /** @description The integration, by id or name. */
            integration: string;
            /** @description The group, by the builder's own id. */
            groupRef: string;
            /** @description Default: groupRef. */
            groupName?: string;
            /** @description The person, by the builder's own id. */
            consumerRef: string;
            /** @description Default: consumerRef. */
            consumerName?: string;
            /** @description Where the page leads back to; its origin is one of the project's or the operator's. */
            returnUrl?: string;
            /** @default 86400 */
            expiresInSeconds?: number;
            /**
             * @description Whether only the browser that opens the link first may use it, until it expires.
             * @default true
             */
            singleUse?: boolean;
        };
        /** CreateDestinationRequest */
        CreateDestinationRequest: {
            /** @description Letters, digits and dashes, at most 64, and not in the form of an id; once in a project, whatever its case. */
            name: string;
            type: components["schemas"]["DestinationType"];
            metadata: components["schemas"]["WebhookMetadata"] | components["schemas"]["PostgresMetadata"] | components["schemas"]["S3Metadata"] | components["schemas"]["AmqpMetadata"] | components["schemas"]["SlackMetadata"] | components["schemas"]["FileMetadata"];
            secrets?: components["schemas"]["WebhookSecrets"] | components["schemas"]["PostgresSecrets"] | components["schemas"]["S3Secrets"] | components["schemas"]["AmqpSecrets"] | components["schemas"]["SlackSecrets"] | components["schemas"]["FileSecrets"];
        };
        /** CreateFrontendTokenRequest */
        CreateFrontendTokenRequest: {
            /** @description The group, by the builder's own id. */
            groupRef: string;
            /** @description The person, by the builder's own id. */
            consumerRef: string;
            /** @default 600 */
            expiresInSeconds?: number;
        };
        /** CreateInstallationRequest */
        CreateInstallationRequest: {
            /** @description The group, by the builder's own id. */
            groupRef: string;
            /** @description Default: the group's newest connection that works. */
            connectionId?: string;
            config: {
                content: components["schemas"]["ConfigContent"];
                /**
                 * @deprecated
                 * @description Ignored: the latest revision counts.
                 */
                revisionId?: string;
                /** @description One of consumer:{consumer-id}, builder:{builder-id}, api:{api-caller}. */
                createdBy?: string;
            };
        };
        /** CreateIntegrationRequest */
        CreateIntegrationRequest: {
            /** @description Unique in the project: letters, digits, `-` and `_`, at most 64. */
            name: string;
            /** @description A key of the catalogue, case-sensitive. */
            provider: string;
            latestRevision: {
                /** @enum {string} */
                specVersion: "1.0.0";
                content: components["schemas"]["ManifestIntegration"];
            };
        };
        /** CreateInvitationRequest */
        CreateInvitationRequest: {
            /** @description Letters count the same in upper and lower case. */
            email: string;
            role: components["schemas"]["Role"];
        };
        /** CreateJwtKeyRequest */
        CreateJwtKeyRequest: {
            label: string;
            /** @enum {string} */
            algorithm: "RS256";
            /** @description An RSA public key of 2048 bits or more. */
            publicKeyPem: string;
            /** @description When given, the claim `iss` of each token must be this. */
            issuer?: string;
            /** @description When given, the claim `aud` of each token must name this. */
            audience?: string;
            /**
             * Format: date-time
             * @description When the key stops to hold; without it, never.
             */
            expiresAt?: string;
        };
        /** CreateNotificationEventTopicRouteRequest */
        CreateNotificationEventTopicRouteRequest: {
            eventType: components["schemas"]["EventType"];
            topicId: string;
        };
        /** CreateProjectRequest */
        CreateProjectRequest: {
            /** @description Unique over the service; kept in lower case. */
            name: string;
            appName?: string;
            /** @description Accepted from older clients; there is one organization. */
            orgId?: string;
        };
        /** CreateProviderAppRequest */
        CreateProviderAppRequest: {
            /** @description A key of the catalogue. */
            provider: string;
            /** @description From the provider. */
            clientId: string;
            /** @description From the provider; kept encrypted and never shown. */
            clientSecret: string;
            /** @description The provider's own id of the app. */
            externalRef?: string;
            /** @description Required for HubSpot. */
            scopes?: string[];
            metadata?: components["schemas"]["ProviderAppMetadata"];
            /**
             * @description Makes it the app of its provider for whoever names none. The first app is; another one only when told so.
             * @enum {boolean}
             */
            isDefault?: true;
        };
        /** CreateTopicDestinationRouteRequest */
        CreateTopicDestinationRouteRequest: {
            topicId: string;
            destinationId: string;
        };
        /** CreatedJwtKey */
        CreatedJwtKey: {
            kid: string;
        };
        /**
         * CreatedProject
         * @description The project with its first key, which is shown here only.
         */
        CreatedProject: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description Shown to end users where they connect. */
            appName: string;
            /** @description Origins, such as `https://app.example.com`, whose pages may call the management surface from a browser. */
            allowedOrigins: string[];
            branding: components["schemas"]["Branding"];
            keepDays: components["schemas"]["KeepDays"];
            /** @description Always the same: an installation of svc has one organization. */
            orgId: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            createTime: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updateTime: string;
            apiKey: components["schemas"]["ApiKey"];
        };
        /** CustomAuthInput */
        CustomAuthInput: {
            name: string;
            displayName?: string;
            prompt?: string;
            docsURL?: string;
            /** @enum {unknown} */
            fieldType?: "fieldTypeText" | "fieldTypePassword" | "fieldTypeSelect";
            options?: string[];
        };
        /** CustomAuthOpts */
        CustomAuthOpts: {
            headers?: {
                name: string;
                valueTemplate: string;
            }[];
            queryParams?: {
                name: string;
                valueTemplate: string;
            }[];
            inputs: components["schemas"]["CustomAuthInput"][];
        };
        /**
         * Delivery
         * @description A message and what became of it at its destination.
         */
        Delivery: {
            /** @description The `webhook-id`. */
            id: string;
            projectId: string;
            destinationId: string;
            notificationType?: components["schemas"]["EventType"];
            installationId?: string;
            groupRef?: string;
            /** @description Of records; a notification has none. */
            objectName?: string;
            /** @description Of records: the read that they came with. */
            operationId?: string;
            status: components["schemas"]["DeliveryStatus"];
            numRecords: number;
            /** @description Of the body. */
            bytes: number;
            attemptCount: number;
            /** @description Of the latest attempt. */
            httpStatus?: number;
            /** @description Of the latest attempt. */
            error?: string;
            /** Format: date-time */
            createTime: string;
            /** Format: date-time */
            lastAttemptTime?: string;
            /** Format: date-time */
            nextAttemptTime?: string;
        };
        /** DeliveryAttempt */
        DeliveryAttempt: {
            /**
             * Format: date-time
             * @description When it began.
             */
            time: string;
            /** @description The HTTP status of the answer. */
            status?: number;
            latencyMs: number;
            /** @description The first 4 KiB of it. */
            answer?: string;
            error?: string;
        };
        /** DeliveryDetail */
        DeliveryDetail: {
            /** @description The `webhook-id`. */
            id: string;
            projectId: string;
            destinationId: string;
            notificationType?: components["schemas"]["EventType"];
            installationId?: string;
            groupRef?: string;
            /** @description Of records; a notification has none. */
            objectName?: string;
            /** @description Of records: the read that they came with. */
            operationId?: string;
            status: components["schemas"]["DeliveryStatus"];
            numRecords: number;
            /** @description Of the body. */
            bytes: number;
            attemptCount: number;
            /** @description Of the latest attempt. */
            httpStatus?: number;
            /** @description Of the latest attempt. */
            error?: string;
            /** Format: date-time */
            createTime: string;
            /** Format: date-time */
            lastAttemptTime?: string;
            /** Format: date-time */
            nextAttemptTime?: string;
            /** @description The latest twenty, oldest first. */
            attempts: components["schemas"]["DeliveryAttempt"][];
            /** @description With `includeBody`: the text that is signed and sent. */
            body?: string;
        };
        /** DeliveryPage */
        DeliveryPage: {
            results: components["schemas"]["Delivery"][];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * DeliveryStatus
         * @description `pending`: waits for its first or its next attempt. `failed`: no further attempt is made by itself. `canceled`: the destination was deleted, its replay was canceled, or the project does not keep the message any longer (`keepDays.messages`).
         * @enum {unknown}
         */
        DeliveryStatus: "pending" | "delivered" | "failed" | "canceled";
        /** DeployImpact */
        DeployImpact: {
            /** @description `keepsReading`, `keepsWriting`: the manifest no longer holds the object, and it goes on there until a destructive deploy. `renamesObject`: what is read is delivered under another `mapToName`, and a table of that name holds what changes from then on. `losesField`: nothing is delivered under that name any more. `losesSchedule`: the object is no longer read by a schedule; those whose config has one of its own are not counted. `losesMapping`: writes of the object no longer take the names that the mapping gives, and take the names of the provider only. `losesProxy`: calls through the proxy are refused. `needsMapping`: the customer mapped no field to that name. `lacksScope`: the connection was not granted what the provider app asks for, before the deploy and after it. */
            kind: "stopsReading" | "stopsWriting" | "keepsReading" | "keepsWriting" | "startsReading" | "renamesObject" | "losesField" | "losesSchedule" | "losesMapping" | "losesProxy" | "needsMapping" | "lacksScope";
            /** @description The provider's name of it; missing where it is about no object. */
            object?: string;
            /** @description The name under which it is delivered. */
            field?: string;
            /** @description The scope that is lacking. */
            scope?: string;
            /** @description How many installations. */
            count: number;
            /** @description The newest of them, at most 20. */
            installations: {
                /** Format: uuid */
                id: string;
                groupRef: string;
            }[];
        };
        /** DeployPreview */
        DeployPreview: {
            /** @enum {boolean} */
            dryRun: true;
            integrations: components["schemas"]["DeployedChange"][];
            /** @description Live integrations that the manifest does not name; a deploy leaves them as they are. */
            untouched: string[];
            warnings: components["schemas"]["ManifestIssue"][];
        };
        /** DeployedChange */
        DeployedChange: {
            name: string;
            provider: string;
            change: "created" | "updated" | "unchanged";
            /** @description Objects as `read.contacts`, and keys such as `proxy`. */
            added: string[];
            changed: string[];
            removed: string[];
            /** @description How many installations the integration has. */
            installations: number;
            /** @description What the change means to them; empty where nothing changes, or nobody is touched. */
            impacts: components["schemas"]["DeployImpact"][];
            /** @description There where so much changes that this many parts of it were not looked at. */
            leftOut?: number;
        };
        /** DeployedIntegration */
        DeployedIntegration: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            projectId: string;
            name: string;
            provider: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            createTime: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updateTime: string;
            latestRevision: components["schemas"]["Revision"];
            /** @description There when there are any; the first integration has those of the whole. */
            warnings?: components["schemas"]["ManifestIssue"][];
        };
        /**
         * Destination
         * @description Where a builder wants things delivered.
         */
        Destination: {
            id: string;
            projectId: string;
            name: string;
            type: components["schemas"]["DestinationType"];
            metadata: components["schemas"]["WebhookMetadata"] | components["schemas"]["PostgresMetadata"] | components["schemas"]["S3Metadata"] | components["schemas"]["AmqpMetadata"] | components["schemas"]["SlackMetadata"] | components["schemas"]["FileMetadata"];
            /**
             * @description `disabled`: what is to be delivered there waits until it is enabled.
             * @enum {unknown}
             */
            status: "active" | "disabled";
            /** @description Why it is disabled. */
            reason?: string;
            /**
             * Format: date-time
             * @description Nothing succeeded since this failure.
             */
            failingSince?: string;
            secrets?: components["schemas"]["WebhookSecrets"] | components["schemas"]["PostgresSecrets"] | components["schemas"]["S3Secrets"] | components["schemas"]["AmqpSecrets"] | components["schemas"]["SlackSecrets"] | components["schemas"]["FileSecrets"];
            /** Format: date-time */
            createTime: string;
            /** Format: date-time */
            updateTime: string;
        };
        /** DestinationPage */
        DestinationPage: {
            results: components["schemas"]["Destination"][];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * DestinationTest
         * @description What became of a message that was sent to try it.
         */
        DestinationTest: {
            success: boolean;
            /** @description The `webhook-id` of what was sent. */
            messageId: string;
            /** @description The HTTP status of the answer. */
            status?: number;
            latencyMs: number;
            /** @description The first 4 KiB of it. */
            answer?: string;
            error?: string;
        };
        /**
         * DestinationType
         * @enum {unknown}
         */
        DestinationType: "webhook" | "postgres" | "s3" | "amqp" | "slack" | "file";
        /** DynamicMapping */
        DynamicMapping: {
            /** @description Field name in the builder's application. */
            mapToName: string;
            mapToDisplayName?: string;
            prompt?: string;
            mappedValues?: {
                mappedValue: string;
                mappedDisplayValue: string;
            }[];
            /** @description Field name at the provider; when present, the customer is not asked. */
            fieldName?: string;
        };
        /**
         * EndedSeries
         * @description By step, in the order of `times`: how many ended well and otherwise, and how long they took from acceptance to end, to within a fifth.
         */
        EndedSeries: {
            succeeded: number[];
            /** @description Of them, writes of several records of which some were not done, or nobody knows; `partlyDone=true` lists them. */
            partlyDone: number[];
            failed: number[];
            p50Ms: (number | null)[];
            p95Ms: (number | null)[];
        };
        /**
         * Erasure
         * @description The removal of what was made until it was asked for.
         */
        Erasure: {
            id: string;
            projectId: string;
            groupRef?: string;
            /** @enum {unknown} */
            status: "running" | "done";
            /** @description Rows that are gone, by kind. */
            removed: {
                operations?: number;
                exchanges?: number;
                messages?: number;
                events?: number;
                proxyLogs?: number;
                readLinks?: number;
                connectLinks?: number;
                customers?: number;
                auditLog?: number;
            };
            /** @description Operations that stay because they are under way: erase again when they have ended. */
            unfinished: number;
            /** @description That nothing of the group was found, once it is done. */
            note?: string;
            /** Format: date-time */
            createTime: string;
            /** Format: date-time */
            updateTime: string;
        };
        /** ErasureRequest */
        ErasureRequest: {
            /** @description Erases what was kept of this group. */
            groupRef?: string;
            /** @description Erases what was kept of all groups, and of none. */
            wholeProject?: boolean;
        };
        /**
         * Event
         * @description Something that happened to a connection, an installation or a destination.
         */
        Event: {
            id: string;
            type: components["schemas"]["EventType"];
            connectionId?: string;
            installationId?: string;
            /** Format: date-time */
            createTime: string;
            /** @description Whom it happened to, in names and ids; `errors` of a `connection.error`; `config` and `lastConfig` of an installation. */
            data: {
                [key: string]: unknown;
            };
        };
        /** EventPage */
        EventPage: {
            results: components["schemas"]["Event"][];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * EventType
         * @description What happened.
         * @enum {unknown}
         */
        EventType: "connection.created" | "connection.refreshed" | "connection.updated" | "connection.deleted" | "connection.error" | "installation.created" | "installation.updated" | "installation.deleted" | "read.backfill.done" | "read.backfill.error" | "read.schedule.paused" | "read.triggered.done" | "read.triggered.error" | "read.waiting" | "write.async.done" | "destination.webhook.disabled" | "destination.deliveries.failed";
        /** Export */
        Export: {
            file: components["schemas"]["ProjectFile"];
            warnings: {
                message: string;
            }[];
        };
        /** ExportRequest */
        ExportRequest: {
            /** @description Seals and opens all that is in the file. It is kept nowhere. */
            passphrase: string;
            /**
             * @description Ends the use of all connections here, so that only the server that imports the file renews their tokens. `:undo` takes them back.
             * @default false
             */
            move?: boolean;
        };
        /** FieldFilter */
        FieldFilter: {
            /** @description Field name at the provider. */
            fieldName: string;
            /** @enum {unknown} */
            operator: "eq";
            value: string | boolean | number;
        };
        /** FieldMetadata */
        FieldMetadata: {
            fieldName: string;
            displayName: string;
            /** @enum {unknown} */
            valueType: "string" | "boolean" | "singleSelect" | "multiSelect" | "date" | "datetime" | "int" | "float" | "reference" | "other";
            /** @description The provider's own name of the type. */
            providerType?: string;
            readOnly?: boolean;
            isCustom?: boolean;
            isRequired?: boolean;
            referenceTo?: string[];
            values?: {
                value: string;
                displayValue: string;
            }[];
        };
        /** FieldSetting */
        FieldSetting: {
            /** @description At most one of the three; applied when the field is missing from the write request. */
            default?: {
                stringValue?: string;
                integerValue?: number;
                booleanValue?: boolean;
            };
            /** @enum {unknown} */
            writeOnCreate?: "always" | "never";
            /** @enum {unknown} */
            writeOnUpdate?: "always" | "never" | "ifEmpty";
        };
        /** FileMetadata */
        FileMetadata: {
            /**
             * @description The file is `files/<project id>/<name>.ndjson` in the folder of `SVC_DATA_DIR`. Letters, digits, `_` and `-`.
             * @example crm-records
             */
            name: string;
            /**
             * @description A file that would become larger is put aside as `<name>.1.ndjson`.
             * @default 10000000
             */
            maxBytes?: number;
            /**
             * @description So many are put aside; the oldest is removed.
             * @default 5
             */
            keep?: number;
        };
        /** FileSecrets */
        FileSecrets: Record<string, never>;
        /** FoundRecord */
        FoundRecord: {
            /** @description The provider's id. */
            id: string;
            /** @description By the provider's names in lower case. */
            fields: {
                [key: string]: unknown;
            };
            /** @description By the builder's names. */
            mappedFields: {
                [key: string]: unknown;
            };
            /** @description The record as the provider sent it. */
            raw: {
                [key: string]: unknown;
            };
        };
        /** FrontendToken */
        FrontendToken: {
            /** @description Sent as `Authorization: Bearer` by the page; kept nowhere. */
            token: string;
            /**
             * Format: date-time
             * @description When it stops to hold.
             */
            expiresAt: string;
            /** @description Whom it is for: the page compares it with whom it shows. */
            groupRef: string;
            consumerRef: string;
        };
        /** Group */
        Group: {
            groupRef: string;
            groupName: string;
            projectId: string;
            /** @description RFC 3339, UTC. */
            createTime: string;
            /** @description RFC 3339, UTC. */
            updateTime?: string;
        };
        /**
         * HistoryKind
         * @description `operations`: with their records, attempts and logs. `exchanges`: what providers were sent and answered. `messages`: with their deliveries. `proxyLogs`: a line for each proxied call. `readLinks`: which records were associated with which, until a week after a record is gone. `connectLinks`: kept until a week after they expire. `customers`: names of groups and people without a connection, kept until they are erased.
         * @enum {unknown}
         */
        HistoryKind: "operations" | "exchanges" | "messages" | "events" | "proxyLogs" | "readLinks" | "connectLinks" | "customers" | "auditLog";
        /** HydratedField */
        HydratedField: {
            fieldName?: string;
            /** @description The provider's label of the field, or its name; missing where the end user chooses the field. */
            displayName?: string;
            mapToName?: string;
            mapToDisplayName?: string;
            prompt?: string;
            default?: string;
        };
        /** HydratedReadObject */
        HydratedReadObject: {
            /** @description The provider's name of the object. */
            objectName: string;
            /** @description The destination that receives the records. Its name: letters, digits and dashes, at most 64. */
            destination?: string;
            /** @description Cron with five fields, in UTC, ten minutes apart or more. */
            schedule?: string;
            /**
             * @description Read for every installation, configured or not.
             * @enum {string}
             */
            enabled?: "always";
            /** @description The builder's name for the object. */
            mapToName?: string;
            mapToDisplayName?: string;
            requiredFields?: components["schemas"]["HydratedField"][];
            optionalFields?: components["schemas"]["HydratedField"][];
            /** @enum {string} */
            optionalFieldsAuto?: "all";
            backfill?: components["schemas"]["ManifestBackfill"];
            /** @description Records that were deleted at the provider are delivered, too, with `deleted: true`. */
            deletedRecords?: {
                /** @enum {string} */
                enabled: "always";
            };
            associations?: components["schemas"]["ManifestAssociations"];
            delivery?: components["schemas"]["ManifestDelivery"];
            /** @description The provider's label of the object; where it cannot be asked, the manifest's name. */
            displayName: string;
            /** @description Why there is no live metadata of this object; the others have theirs. */
            error?: string;
            allFieldsMetadata?: {
                [key: string]: components["schemas"]["FieldMetadata"];
            };
            /**
             * @deprecated
             * @description Use `allFieldsMetadata`.
             */
            allFields?: {
                fieldName: string;
                displayName: string;
            }[];
        };
        /** HydratedRevision */
        HydratedRevision: {
            id: string;
            specVersion: string;
            /** @description RFC 3339, UTC. */
            createTime: string;
            content: {
                /** @description Unique in the project: letters, digits, `-` and `_`, at most 64. */
                name: string;
                displayName?: string;
                /** @description A key of the catalogue, case-sensitive. */
                provider: string;
                /** @description A module of the provider. */
                module?: string;
                read?: {
                    objects: components["schemas"]["HydratedReadObject"][];
                };
                write?: {
                    objects: components["schemas"]["HydratedWriteObject"][];
                };
                subscribe?: {
                    objects: components["schemas"]["ManifestSubscribeObject"][];
                };
                proxy?: {
                    enabled: boolean;
                    /** @description Call the module's base URL, not the provider's. */
                    useModule?: boolean;
                };
                watchSchema?: components["schemas"]["ManifestWatchSchema"];
            };
        };
        /** HydratedWriteObject */
        HydratedWriteObject: {
            /** @description The provider's name of the object. */
            objectName: string;
            /** @description Write through the field mappings chosen for reading the same object. */
            inheritMapping?: boolean;
            valueDefaults?: {
                allowAnyFields?: boolean;
            };
            /** @description The provider's label of the object; where it cannot be asked, the manifest's name. */
            displayName: string;
            /** @description Why there is no live metadata of this object; the others have theirs. */
            error?: string;
        };
        /** Import */
        Import: {
            projectId: string;
            dryRun: boolean;
            /** @description By kind: `connections`, `installations`, `destinations` and so on. */
            created: {
                [key: string]: number;
            };
            /** @description What was there and is now as in the file: connections that the file hands over (an export with `move`, after what is known of them here), and keys that were revoked since. */
            replaced: {
                [key: string]: number;
            };
            /** @description What was there already, by its id, and was left as it is; `warnings` names what the file has otherwise. */
            unchanged: {
                [key: string]: number;
            };
            warnings: {
                message: string;
            }[];
        };
        /** ImportRequest */
        ImportRequest: {
            /** @description Seals and opens all that is in the file. It is kept nowhere. */
            passphrase: string;
            file: components["schemas"]["ProjectFile"];
            /**
             * @description Tells what would come in, and changes nothing.
             * @default false
             */
            dryRun?: boolean;
        };
        /** ImportedTokens */
        ImportedTokens: {
            accessToken?: components["schemas"]["TokenInput"];
            refreshToken?: components["schemas"]["TokenInput"];
            scopes?: string[];
        };
        /** Installation */
        Installation: {
            id: string;
            projectId: string;
            integrationId: string;
            group: components["schemas"]["Group"];
            /**
             * @description `unhealthy`: the connection has bad credentials or is gone, or at least half of the operations of late failed, and more than one.
             * @enum {unknown}
             */
            healthStatus: "healthy" | "unhealthy";
            /** @enum {unknown} */
            lastOperationStatus?: "success" | "failure" | "in_progress";
            connection?: components["schemas"]["Connection"];
            /** @description RFC 3339, UTC. */
            createTime: string;
            createdBy: string;
            /** @description The last change of the config. */
            updateTime?: string;
            config: components["schemas"]["Config"];
            /** @description Only where it is made or changed: mappings of the config to names that the integration does not ask for; destinations that are not there or disabled; that the provider could not be asked; and, where it is made, objects of the integration that the account of the connection does not have. */
            warnings?: {
                message: string;
            }[];
        };
        /** InstallationPage */
        InstallationPage: {
            results: components["schemas"]["Installation"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** Integration */
        Integration: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            projectId: string;
            name: string;
            provider: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            createTime: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updateTime: string;
            latestRevision: components["schemas"]["Revision"];
        };
        /** IntegrationPage */
        IntegrationPage: {
            results: components["schemas"]["Integration"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** Invitation */
        Invitation: {
            /** Format: uuid */
            id: string;
            email: string;
            role: components["schemas"]["Role"];
            /** @description The e-mail address of who invited. */
            invitedBy?: string;
            /** @description The link; shown once, when it is made. Send it to nobody else. */
            url?: string;
            /**
             * Format: date-time
             * @description Until when it can be accepted.
             */
            expiresAt: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            createTime: string;
        };
        /** InvitationLook */
        InvitationLook: {
            /**
             * @description `welcome`: the first owner; `invitation`: to a project; `reset`: a new password, and no second factor until one is set up.
             * @enum {unknown}
             */
            kind: "welcome" | "invitation" | "reset";
            /** @description Whose the link is; absent: who opens it says. */
            email?: string;
            role?: components["schemas"]["Role"];
            project?: {
                name: string;
                appName: string;
            };
            /** @description That person has an account: they accept with their password, or while signed in with none. */
            isKnown: boolean;
            /**
             * Format: date-time
             * @description Until when it holds.
             */
            expiresAt: string;
        };
        /** InvitationPage */
        InvitationPage: {
            results: components["schemas"]["Invitation"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** JwtKey */
        JwtKey: {
            /**
             * Format: uuid
             * @description Sent as `kid` in the header of each token.
             */
            id: string;
            /** Format: uuid */
            projectId: string;
            label: string;
            /** @enum {string} */
            algorithm: "RSA";
            publicKeyPem: string;
            /** @description What the claim `iss` of each token must be. */
            issuer?: string;
            /** @description What the claim `aud` of each token must name. */
            audience?: string;
            active: boolean;
            /**
             * Format: date-time
             * @description When it stops to hold.
             */
            expiresAt?: string;
            /**
             * Format: date-time
             * @description When it was used last, to the minute.
             */
            lastUsedAt?: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            createTime: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updateTime: string;
        };
        /** JwtKeyPage */
        JwtKeyPage: {
            results: components["schemas"]["JwtKey"][];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * KeepDays
         * @description Days, by kind of history; at most those of the operator, which hold for what is not named. What is older is not shown, sent or replayed any more. It leaves the disk with its day (operations: month), as soon as all projects with something of that day want it gone, and at the latest after the days of the operator.
         */
        KeepDays: {
            /** @description Operations with their records, attempts and logs, by when they were accepted. Unfinished ones stay until they end: ask for more days than a write may be retried. */
            operations?: number;
            /** @description What providers were sent for writes and reads, and what they answered. With 0 nothing is kept from then on. */
            exchanges?: number;
            /** @description Messages and what became of them. With 0 the content of a message is removed when it is delivered; the rest, and what is not delivered, is kept as the operator says. */
            messages?: number;
            /** @description Events. */
            events?: number;
            /** @description The log of proxied calls. */
            proxyLogs?: number;
        };
        /**
         * KeepDaysChange
         * @description As `keepDays`; null: as the operator says.
         */
        KeepDaysChange: {
            operations?: number | null;
            exchanges?: number | null;
            messages?: number | null;
            events?: number | null;
            proxyLogs?: number | null;
        };
        /** LookAtInvitationRequest */
        LookAtInvitationRequest: {
            /** @description What stands behind `#token=` in the link. */
            token: string;
        };
        /** ManifestAssociationChangeEvent */
        ManifestAssociationChangeEvent: {
            /** @enum {string} */
            enabled: "always";
            includeFullRecords?: boolean;
        };
        /** ManifestAssociations */
        ManifestAssociations: {
            objects: string[];
            /** @description When changes of associations alone are looked for: cron with five fields, in UTC, an hour apart or more. Missing: once a day where the object has a schedule. */
            schedule?: string;
        };
        /** ManifestBackfill */
        ManifestBackfill: {
            defaultPeriod: {
                days?: number;
                fullHistory?: boolean;
            };
        };
        /**
         * ManifestDelivery
         * @deprecated
         */
        ManifestDelivery: {
            mode?: "auto" | "onRequest";
            pageSize?: number;
        };
        /** ManifestField */
        ManifestField: {
            /** @description The provider's field, or a nested path such as `$['properties']['email']`. */
            fieldName?: string;
            /** @description The builder's name for the field, also as a nested path. */
            mapToName?: string;
            mapToDisplayName?: string;
            /** @description Shown where the end user chooses the field. */
            prompt?: string;
            /** @description The provider field chosen beforehand, until the object is configured. */
            default?: string;
        };
        /** ManifestIntegration */
        ManifestIntegration: {
            /** @description Unique in the project: letters, digits, `-` and `_`, at most 64. */
            name: string;
            displayName?: string;
            /** @description A key of the catalogue, case-sensitive. */
            provider: string;
            /** @description A module of the provider. */
            module?: string;
            read?: {
                objects: components["schemas"]["ManifestReadObject"][];
            };
            write?: {
                objects: components["schemas"]["ManifestWriteObject"][];
            };
            subscribe?: {
                objects: components["schemas"]["ManifestSubscribeObject"][];
            };
            proxy?: {
                enabled: boolean;
                /** @description Call the module's base URL, not the provider's. */
                useModule?: boolean;
            };
            watchSchema?: components["schemas"]["ManifestWatchSchema"];
        };
        /** ManifestIssue */
        ManifestIssue: {
            severity: "error" | "warning";
            /** @description The name of the rule; a warning is silenced by `# svc:ignore[rule]` on its line or above it, also one that a deploy finds. */
            rule: string;
            /** @description A dotted path with indexes, such as `integrations[0].read.objects[2].schedule`. */
            path: string;
            message: string;
            line: number;
            column: number;
            suggestion?: string;
        };
        /** ManifestReadObject */
        ManifestReadObject: {
            /** @description The provider's name of the object. */
            objectName: string;
            /** @description The destination that receives the records. Its name: letters, digits and dashes, at most 64. */
            destination?: string;
            /** @description Cron with five fields, in UTC, ten minutes apart or more. */
            schedule?: string;
            /**
             * @description Read for every installation, configured or not.
             * @enum {string}
             */
            enabled?: "always";
            /** @description The builder's name for the object. */
            mapToName?: string;
            mapToDisplayName?: string;
            requiredFields?: components["schemas"]["ManifestField"][];
            optionalFields?: components["schemas"]["ManifestField"][];
            /** @enum {string} */
            optionalFieldsAuto?: "all";
            backfill?: components["schemas"]["ManifestBackfill"];
            /** @description Records that were deleted at the provider are delivered, too, with `deleted: true`. */
            deletedRecords?: {
                /** @enum {string} */
                enabled: "always";
            };
            associations?: components["schemas"]["ManifestAssociations"];
            delivery?: components["schemas"]["ManifestDelivery"];
        };
        /** ManifestSource */
        ManifestSource: {
            /** @description The text of `svc.yaml`. */
            sourceYaml?: string;
            /** @description Not taken by this service: send `sourceYaml`. */
            sourceZipUrl?: string;
        };
        /** ManifestSubscribeObject */
        ManifestSubscribeObject: {
            /** @description The provider's name of the object. */
            objectName: string;
            /** @description The destination that receives the events. Its name: letters, digits and dashes, at most 64. */
            destination: string;
            inheritFieldsAndMapping?: boolean;
            /** @description The same as `inheritFieldsAndMapping`. */
            inheritFieldsAndMappings?: boolean;
            /** @description A record was created. */
            createEvent?: {
                /** @enum {string} */
                enabled: "always";
            };
            updateEvent?: components["schemas"]["ManifestUpdateEvent"];
            /** @description A record was deleted. */
            deleteEvent?: {
                /** @enum {string} */
                enabled: "always";
            };
            associationChangeEvent?: components["schemas"]["ManifestAssociationChangeEvent"];
            otherEvents?: string[];
        };
        /**
         * ManifestText
         * @description The text of `svc.yaml`, as it is.
         */
        ManifestText: string;
        /** ManifestUpdateEvent */
        ManifestUpdateEvent: {
            /** @enum {string} */
            enabled: "always";
            watchFieldsAuto?: "all" | "selected";
            requiredWatchFields?: string[];
        };
        /** ManifestWatchSchema */
        ManifestWatchSchema: {
            /** @description The destination that receives the changes. Its name: letters, digits and dashes, at most 64. */
            destination: string;
            /** @description Cron with five fields, an hour apart or more; once a day unless given. */
            schedule?: string;
            allObjects: {
                /** @description A field appeared. */
                fieldCreated?: {
                    /** @enum {string} */
                    enabled: "always";
                };
                /** @description A field disappeared. */
                fieldDeleted?: {
                    /** @enum {string} */
                    enabled: "always";
                };
                /** @description A field changed its type, label or description. */
                fieldChanged?: {
                    /** @enum {string} */
                    enabled: "always";
                };
            };
        };
        /** ManifestWriteObject */
        ManifestWriteObject: {
            /** @description The provider's name of the object. */
            objectName: string;
            /** @description Write through the field mappings chosen for reading the same object. */
            inheritMapping?: boolean;
            valueDefaults?: {
                allowAnyFields?: boolean;
            };
        };
        /** Member */
        Member: {
            /**
             * Format: uuid
             * @description Of the person.
             */
            id: string;
            email: string;
            name?: string;
            role: components["schemas"]["Role"];
            secondFactor: boolean;
            /**
             * Format: date-time
             * @description When they did something last, to the minute.
             */
            lastSeenAt?: string;
            /**
             * Format: date-time
             * @description When they became a member.
             */
            createTime: string;
            /**
             * Format: date-time
             * @description When their role was changed last.
             */
            updateTime: string;
        };
        /** MemberPage */
        MemberPage: {
            results: components["schemas"]["Member"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** Membership */
        Membership: {
            /**
             * Format: uuid
             * @description Of the project.
             */
            id: string;
            name: string;
            appName: string;
            role: components["schemas"]["Role"];
            /** @description What the role reaches, as with a key of these scopes. */
            scopes: components["schemas"]["Scope"][];
        };
        /**
         * MessageResult
         * @description The `result` that the message would hold.
         */
        MessageResult: {
            [key: string]: unknown;
        }[];
        /** NewSecondFactor */
        NewSecondFactor: {
            /** @description In base32, to be typed. */
            secret: string;
            /** @description The same as `otpauth:` URI, to be shown as a QR code. */
            uri: string;
        };
        /**
         * NotificationEventTopicRoute
         * @description Events of this type go to this topic.
         */
        NotificationEventTopicRoute: {
            id: string;
            eventType: components["schemas"]["EventType"];
            topicId: string;
            projectId: string;
            /** Format: date-time */
            createTime: string;
        };
        /** NotificationEventTopicRoutePage */
        NotificationEventTopicRoutePage: {
            results: components["schemas"]["NotificationEventTopicRoute"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** NotificationRoute */
        NotificationRoute: {
            eventTypes: components["schemas"]["EventType"][];
            /** @description Its name, or its id; answers have the name. */
            destination: string;
        };
        /**
         * Notifications
         * @description Which events are told, and where; each destination is told once.
         */
        Notifications: {
            routes: components["schemas"]["NotificationRoute"][];
            /** @description What the topics of the project lead to; it is changed where they are. */
            byTopics: components["schemas"]["NotificationRoute"][];
        };
        /** OAuth2ClientCredentials */
        OAuth2ClientCredentials: {
            /** @description The client id. */
            clientId: string;
            /** @description The client secret. */
            clientSecret: string;
            scopes?: string[];
        };
        /** OAuth2Opts */
        OAuth2Opts: {
            /** @enum {unknown} */
            grantType: "authorizationCode" | "authorizationCodePKCE" | "clientCredentials" | "password";
            authURL?: string;
            tokenURL: string;
            explicitScopesRequired: boolean;
            explicitWorkspaceRequired: boolean;
            audience?: string[];
            tokenMetadataFields: components["schemas"]["TokenMetadataFields"];
            authURLParams?: {
                [key: string]: string;
            };
            accessTokenOpts?: {
                /** @enum {string} */
                attachmentType: "header";
                header: {
                    name: string;
                    valuePrefix?: string;
                };
            };
            keepAliveIntervalHours?: number;
            docsURL?: string;
        };
        /** OAuth2PasswordCredentials */
        OAuth2PasswordCredentials: {
            /** @description The user name. */
            username: string;
            /** @description The password. */
            password: string;
            /** @description The client id. */
            clientId: string;
            /** @description The client secret. */
            clientSecret: string;
            scopes?: string[];
        };
        /** OAuthConnectRequest */
        OAuthConnectRequest: {
            /** @description The project, by id or name. */
            projectIdOrName: string;
            /** @description A key of GET /v1/providers. */
            provider: string;
            /** @description The group, by the builder's own id. */
            groupRef: string;
            /** @description The person who connects, by the builder's own id. */
            consumerRef: string;
            /** @description Default: groupRef. Front-end tokens name a group that has no name yet, and rename none. */
            groupName?: string;
            /** @description Default: consumerRef. */
            consumerName?: string;
            /** @description The account at the provider, such as a subdomain. */
            providerWorkspaceRef?: string;
            providerMetadata?: components["schemas"]["ProviderMetadata"];
            /** @description The provider app to connect with. Default: the one of the provider with `isDefault`. */
            providerAppId?: string;
            /** @description Accepted for compatibility; every flow is protected by a single-use state. */
            enableCSRFProtection?: boolean;
            /** @description Where the browser goes afterwards, with `connectionId` or `error`. Its origin must be in the operator's list or among the `allowedOrigins` of the project. */
            returnUrl?: string;
        };
        /** ObjectMetadata */
        ObjectMetadata: {
            /** @description Name of the object at the provider. */
            name: string;
            displayName?: string;
            /** @description The integration's `mapToName` of the object. */
            mappedObjectName?: string;
            fields: {
                [key: string]: components["schemas"]["FieldMetadata"];
            };
        };
        /** OpenConnectLinkRequest */
        OpenConnectLinkRequest: {
            /** @description What stands behind the `#` of the link. */
            link: string;
            /** @description A secret of this browser: a link for one use is opened again by the same one only. */
            browser: string;
            /**
             * Format: uuid
             * @description The project of the page: a link of another one does not open.
             */
            projectId?: string;
        };
        /** OpenedConnectLink */
        OpenedConnectLink: {
            /** @description Sent as `Authorization: Bearer` by the page; kept nowhere. */
            token: string;
            /**
             * Format: date-time
             * @description When it stops to hold.
             */
            expiresAt: string;
            groupRef: string;
            consumerRef: string;
            project: components["schemas"]["ConnectLinkProject"];
            integration: string;
            groupName?: string;
            consumerName?: string;
            returnUrl?: string;
            /**
             * Format: date-time
             * @description When the link stops to hold.
             */
            linkExpiresAt: string;
        };
        /** Operation */
        Operation: {
            id: string;
            projectId: string;
            integrationId: string;
            installationId: string;
            /** @description The group that it is of, also once its installation was deleted. */
            groupRef?: string;
            configId: string;
            /** @description `write` or `read`. */
            actionType: string;
            /**
             * @description Moves once, from `in_progress`. A batch with at least one success is a `success`; `counts` tells how many were not.
             * @enum {unknown}
             */
            status: "in_progress" | "success" | "failure";
            /** @description A sentence that starts with the object in brackets. */
            result?: string;
            /** @description The object that the operation concerns. */
            resource: string;
            metadata: {
                objects: string[];
                retry: {
                    /** @description Attempts whose end is known. */
                    attempts: number;
                    /** @description When the last attempt ended. RFC 3339, UTC. */
                    lastAttempt?: string;
                    /** @description When the next attempt is due; it is later while the provider takes no calls of the connection (`rateBudget.closedUntil`). RFC 3339, UTC. */
                    nextAttempt?: string;
                };
                successfulRecordIds?: string[];
                /** @description Of a read. */
                progress?: {
                    installationId: string;
                    objectName: string;
                    operationId: string;
                    /** @description Records that were read so far. */
                    recordsProcessed: number;
                    /** @description As many as there were when it began, where the provider counts. */
                    recordsEstimatedTotal?: number;
                };
                /** @description Of a read: its range, and what became of the records. */
                read?: {
                    /**
                     * @description `associations`: a run that looks for changes of associations alone.
                     * @enum {unknown}
                     */
                    type: "scheduled" | "backfill" | "triggered" | "associations";
                    /** @description Changed after this time; missing: since ever. RFC 3339, UTC. */
                    since?: string;
                    /** @description Changed at this time or before. RFC 3339, UTC. */
                    until: string;
                    pages: number;
                    /** @description Records that became part of a message. */
                    emitted: number;
                    /** @description Of them, those whose message was delivered. */
                    delivered: number;
                };
            };
            /** @description What failed; while `in_progress`, also how the last attempt of a record ended that is tried again. */
            errors: components["schemas"]["OperationFailure"][];
            /** @description Of the records of a write, or of the deliveries of those of a read. */
            counts?: {
                total: number;
                succeeded: number;
                /** @description Known not to have been done; of a read, those whose delivery is not tried again. */
                failed: number;
                /** @description Sent, and nobody knows what became of it. */
                unknown: number;
            };
            /**
             * @description There while it holds a record of unknown outcome of which nobody has said what became (`:resolve`).
             * @enum {boolean}
             */
            unresolved?: true;
            /** @description The operation whose failed records this one sends again. */
            retryOf?: string;
            /** @description The operation that sends the failed records of this one again. */
            retriedBy?: string;
            /** @description When it was accepted. RFC 3339, UTC. */
            createTime: string;
            /** @description When it last changed. RFC 3339, UTC. */
            updateTime: string;
        };
        /** OperationExchange */
        OperationExchange: {
            id: string;
            /** @description When it began. RFC 3339, UTC. */
            time: string;
            /** @description The attempt of the operation, from 1. */
            attempt: number;
            /** @description Without the credential of the connection. */
            request: {
                method: string;
                /** @description Below the address of the connection. */
                path: string;
                headers?: {
                    [key: string]: string | string[];
                };
                /** @description The beginning of what was sent, 16,384 characters at the most. */
                body?: string;
                /** @description How long all of it is. */
                bytes: number;
            };
            /** @description Missing when none came. Headers are those that explain it; secrets are removed. The body of a good answer to a read is not kept. */
            answer?: {
                status: number;
                headers: {
                    [key: string]: string | string[];
                };
                /** @description The beginning of what came back, 16,384 characters at the most. */
                body?: string;
                /** @description How long all of it is. */
                bytes: number;
            };
            /** @description Why there is no answer. */
            fault?: string;
            totalMs: number;
        };
        /** OperationExchangePage */
        OperationExchangePage: {
            results: components["schemas"]["OperationExchange"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** OperationFailure */
        OperationFailure: {
            /** @description The record's place in the request, from 0. */
            index?: number;
            /** @enum {unknown} */
            category: "validation" | "permission" | "auth" | "notFound" | "conflict" | "rateLimit" | "providerDown" | "unknownOutcome" | "internal";
            /** @description Whether the same request may succeed later. */
            retryable: boolean;
            message: string;
            /** @description What the provider answered, secrets removed. */
            provider?: {
                status?: number;
                code?: string;
                message?: string;
            };
            /** @description Of a conflict: the record that stands there, where the provider names it. Of an unknown outcome: the record that it may have made. */
            existingRecordId?: string;
        };
        /** OperationLog */
        OperationLog: {
            /** @description When it happened. RFC 3339, UTC. */
            timestamp: string;
            /** @enum {unknown} */
            severity: "info" | "warning" | "error";
            message: {
                msg: string;
                error?: string;
                operation_id: string;
                details: {
                    [key: string]: string;
                };
            };
        };
        /** OperationPage */
        OperationPage: {
            results: components["schemas"]["Operation"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** OperationRecord */
        OperationRecord: {
            /** @description The record's place in the request, from 0. */
            index: number;
            /** @description As the caller sent it. */
            reference?: string;
            /** @description The provider's id. */
            recordId?: string;
            /** @description Of an upsert: whether the record was created, where that is known. */
            created?: boolean;
            /** @description Absent while the record has no outcome. */
            success?: boolean;
            /** @description How its last attempt failed; it stays when the record is resolved. */
            errors: components["schemas"]["OperationFailure"][];
            /**
             * @description What is known of it: from the provider, or, for a record of unknown outcome, from who resolved it.
             * @enum {unknown}
             */
            resolution: "pending" | "applied" | "notApplied" | "unknown";
            /** @description The unique field by which the record was looked up at the provider after an answer was lost. */
            lookedUpBy?: string;
            /** @description Whose key resolved it by hand, such as `apiKey:k1`. */
            resolvedBy?: string;
            /** @description When it was resolved by hand. RFC 3339, UTC. */
            resolvedAt?: string;
        };
        /** OperationRecordPage */
        OperationRecordPage: {
            results: components["schemas"]["OperationRecord"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** Overview */
        Overview: {
            /** @description What needs somebody, the worst first; what is well is not in it. */
            attention: components["schemas"]["Attention"][];
            oldestQueuedWrite?: {
                operationId: string;
                /** @description Since it was accepted. */
                seconds: number;
                /** @description How many writes wait, this one among them. */
                count: number;
                /** @description Otherwise there may be more. */
                countIsComplete: boolean;
            };
            /** @description Connections whose provider said that their limit is reached, for now; twenty at the most. */
            closedBudgets: {
                connectionId: string;
                groupRef: string;
                provider: string;
                lockedOut: boolean;
                /** Format: date-time */
                closedUntil: string;
            }[];
            activity: components["schemas"]["Activity"];
        };
        /** Pagination */
        Pagination: {
            /** @description Whether this is the last page. */
            done: boolean;
            /** @description Asks for the page after this one. */
            nextPageToken?: string;
        };
        /** PartialReadObjectConfig */
        PartialReadObjectConfig: {
            /** @description Name of the object at the provider. */
            objectName?: string;
            /** @description Cron expression with five fields, at most every ten minutes. */
            schedule?: string;
            /** @description When true, scheduled reads pause and reads on demand are refused. */
            disabled?: boolean;
            /** @description Name of the destination that receives the result. */
            destination?: string;
            /** @description Fields to read, by their name at the provider. */
            selectedFields?: {
                [key: string]: boolean;
            };
            /** @description Per provider field: delivered value to provider value, one to one. */
            selectedValueMappings?: {
                [key: string]: {
                    [key: string]: string;
                };
            };
            dynamicMappingsInput?: components["schemas"]["DynamicMapping"][];
            /** @description The builder's field name to the provider's. */
            selectedFieldMappings?: {
                [key: string]: string;
            };
            /** @enum {unknown} */
            selectedFieldsAuto?: "all";
            backfill?: components["schemas"]["Backfill"];
            fieldFilters?: components["schemas"]["FieldFilter"][];
            associations?: components["schemas"]["ReadAssociationsConfig"];
        };
        /** PartialSubscribeObjectConfig */
        PartialSubscribeObjectConfig: {
            /** @description Name of the object at the provider. */
            objectName?: string;
            /** @description Name of the destination that receives the events. */
            destination?: string;
            inheritFieldsAndMappings?: boolean;
            /** @description The same, in the spelling of the manifest. */
            inheritFieldsAndMapping?: boolean;
            createEvent?: {
                /** @enum {unknown} */
                enabled?: "always" | "never";
            };
            updateEvent?: {
                /** @enum {unknown} */
                enabled?: "always" | "never";
                /** @enum {unknown} */
                watchFieldsAuto?: "all" | "selected";
                requiredWatchFields?: string[];
            };
            deleteEvent?: {
                /** @enum {unknown} */
                enabled?: "always" | "never";
            };
            otherEvents?: string[];
            providerOptions?: {
                quotaOptimization?: {
                    enabled: boolean;
                };
            };
        };
        /** PartialWriteObjectConfig */
        PartialWriteObjectConfig: {
            /** @description Name of the object at the provider. */
            objectName?: string;
            /** @description Write through the read action's field mappings; the manifest's value when absent. */
            inheritMapping?: boolean;
            deletionSettings?: {
                enabled: boolean;
            };
            /** @description By field name; by mapped name where the mapping is inherited. */
            selectedFieldSettings?: {
                [key: string]: components["schemas"]["FieldSetting"];
            };
            /** @description Deprecated: use `selectedFieldSettings`. */
            selectedValueDefaults?: {
                [key: string]: components["schemas"]["ValueDefault"];
            };
        };
        /** PatchObjectConfigContentRequest */
        PatchObjectConfigContentRequest: {
            /** @description The group, by the builder's own id. */
            groupRef?: string;
            installationId?: string;
            /** @enum {unknown} */
            action: "read" | "subscribe" | "write";
            changes: {
                /** @enum {unknown} */
                op: "add" | "remove" | "replace";
                /** @description JSON Pointer (RFC 6901) into the config of the object; empty is the whole of it. */
                path: string;
                value?: unknown;
            }[];
        };
        /**
         * PauseReadsRequest
         * @description May be left away.
         */
        PauseReadsRequest: {
            /** @description By the provider's or the builder's name. Missing: all of the installation. */
            objects?: string[];
            /** @description Shown with the pause. */
            note?: string;
        } | null;
        /** Person */
        Person: {
            /** Format: uuid */
            id: string;
            /** @description Letters count the same in upper and lower case. */
            email: string;
            name?: string;
            /** @description Reaches what the scope `operator` does: makes projects. */
            operator: boolean;
            /** @description Whether signing in asks for a second factor. */
            secondFactor: boolean;
            /** @description Without one they sign in elsewhere. */
            hasPassword: boolean;
        };
        /** PostgresMetadata */
        PostgresMetadata: {
            /**
             * @description `postgresql://user@host:port/database`, without a password. `sslmode` may be `verify-full` (the default), `verify-ca`, `require` or `disable`.
             * @example postgresql://svc@db.example.com:5432/warehouse
             */
            url: string;
            /**
             * @description The schema that holds the tables. It must exist.
             * @example crm
             */
            schema: string;
            /**
             * @description Stands before the name of each object in the names of the tables.
             * @example hubspot_
             */
            tablePrefix?: string;
        };
        /** PostgresSecrets */
        PostgresSecrets: {
            /**
             * @description Of the user in `metadata.url`.
             * @example a-long-password
             */
            password: string;
        };
        /** PreviewedRecord */
        PreviewedRecord: {
            /** @description By the provider's names in lower case. */
            fields: {
                [key: string]: unknown;
            };
            /** @description By the builder's names. */
            mappedFields: {
                [key: string]: unknown;
            };
            /** @description The record as the provider sent it. */
            raw: {
                [key: string]: unknown;
            };
            /** @description What it is associated with, by object. */
            associations?: {
                [key: string]: unknown;
            };
        };
        /** Problem */
        Problem: {
            /** @description `urn:svc:problem:<code>` */
            type: string;
            /** @description Stable; each has a page in docs/errors. */
            code: string;
            title: string;
            status: number;
            /** @description One sentence the caller can act on. */
            detail: string;
            remedy: string;
            requestId: string;
            retryable: boolean;
            /** Format: date-time */
            time: string;
            /** Format: date-time */
            retryAfter?: string;
            issues?: components["schemas"]["ProblemIssue"][];
            /** @description How many were found beyond those that `issues` tells, which are 20 at the most. */
            moreIssues?: number;
            provider?: components["schemas"]["ProviderAnswer"];
        } & {
            [key: string]: unknown;
        };
        /** ProblemIssue */
        ProblemIssue: {
            /** @enum {unknown} */
            in: "body" | "header" | "path" | "query";
            /** @description Dotted path with indexes. */
            name: string;
            detail: string;
            value?: unknown;
            line?: number;
            column?: number;
        };
        /** Project */
        Project: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description Shown to end users where they connect. */
            appName: string;
            /** @description Origins, such as `https://app.example.com`, whose pages may call the management surface from a browser. */
            allowedOrigins: string[];
            branding: components["schemas"]["Branding"];
            keepDays: components["schemas"]["KeepDays"];
            /** @description Always the same: an installation of svc has one organization. */
            orgId: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            createTime: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updateTime: string;
        };
        /** ProjectFile */
        ProjectFile: {
            /** @enum {string} */
            format: "svc-project";
            /** @description Of the format; a server reads its own and earlier ones. */
            version: number;
            /** @description The name of the project that it was made from. */
            project: string;
            /** Format: date-time */
            createTime: string;
            /** @description The connections are not used any more where it was made. */
            moved: boolean;
            /** @description By kind: `connections`, `installations`, `destinations` and so on. */
            counts: {
                [key: string]: number;
            };
            salt: string;
            /** @description Everything that comes along, sealed with the passphrase. */
            data: string;
        };
        /** ProjectPage */
        ProjectPage: {
            results: components["schemas"]["Project"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** ProjectReadState */
        ProjectReadState: {
            installationId: string;
            integrationId: string;
            groupRef: string;
            status: components["schemas"]["ReadStatus"];
            /** @description The provider's name. */
            objectName: string;
            /** @description The builder's name. */
            mappedObjectName?: string;
            /** @description Cron with five fields, in UTC. Missing: on demand only. */
            schedule?: string;
            destination?: string;
            disabled: boolean;
            paused?: {
                /**
                 * @description `object`, `installation`: by a call; `failures`: by itself, after too many failures; `removed`: a deploy took the object away.
                 * @enum {unknown}
                 */
                reason: "object" | "installation" | "failures" | "removed";
                /**
                 * Format: date-time
                 * @description Since when. RFC 3339, UTC.
                 */
                since: string;
                note?: string;
            };
            /**
             * Format: date-time
             * @description Every change until then was read by the schedule. RFC 3339, UTC.
             */
            watermark: string;
            /**
             * Format: date-time
             * @description When the next scheduled run begins. RFC 3339, UTC.
             */
            nextRunTime?: string;
            /** @description Scheduled runs that failed one after the other. */
            failures: number;
            lastRun?: components["schemas"]["ReadRunSummary"];
            backfill?: components["schemas"]["ReadRunSummary"];
            associations?: components["schemas"]["AssociationsState"];
        };
        /** ProjectReadStatePage */
        ProjectReadStatePage: {
            results: components["schemas"]["ProjectReadState"][];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * ProviderAnswer
         * @description What the provider answered, secrets removed.
         */
        ProviderAnswer: {
            status?: number;
            code?: string;
            message?: string;
        };
        /** ProviderApp */
        ProviderApp: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            projectId: string;
            provider: string;
            clientId: string;
            /** @description The provider's own id of the app. */
            externalRef?: string;
            scopes?: string[];
            metadata?: components["schemas"]["ProviderAppMetadata"];
            /** @description Whether connections of its provider are made with it when none is named. */
            isDefault: boolean;
            /**
             * Format: date-time
             * @description When it was made.
             */
            createTime: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updateTime: string;
        };
        /** ProviderAppMetadata */
        ProviderAppMetadata: {
            /** @description Further parameters of the authorization URL. */
            authQueryParams?: {
                [key: string]: string[];
            };
            /** @description The provider's own settings, such as an install URL. */
            providerParams?: {
                [key: string]: string;
            };
        };
        /** ProviderAppPage */
        ProviderAppPage: {
            results: components["schemas"]["ProviderApp"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** ProviderCatalogue */
        ProviderCatalogue: {
            [key: string]: components["schemas"]["ProviderInfo"];
        };
        /** ProviderInfo */
        ProviderInfo: {
            name: string;
            displayName: string;
            /** @enum {unknown} */
            authType: "oauth2" | "apiKey" | "basic" | "jwt" | "custom" | "none";
            baseURL: string;
            labels?: {
                [key: string]: string;
            };
            docsURL?: string;
            apiKeyOpts?: components["schemas"]["ApiKeyOpts"];
            basicOpts?: components["schemas"]["BasicOpts"];
            customOpts?: components["schemas"]["CustomAuthOpts"];
            defaultModule: string;
            modules?: {
                [key: string]: {
                    displayName: string;
                    baseURL: string;
                    support: components["schemas"]["Support"];
                };
            };
            oauth2Opts?: components["schemas"]["OAuth2Opts"];
            authHealthCheck?: {
                url: string;
                /**
                 * @description GET unless given.
                 * @enum {unknown}
                 */
                method?: "GET" | "POST";
                successStatusCodes?: number[];
            };
            metadata?: {
                input: components["schemas"]["ProviderMetadataInput"][];
                /** @description What the provider tells of the account when it is connected. */
                postAuthentication?: {
                    name: string;
                }[];
            };
            support: components["schemas"]["Support"];
            /** @description Whether the provider is asked about the account after signing in. */
            postAuthInfoNeeded?: boolean;
        };
        /** ProviderMetadata */
        ProviderMetadata: {
            [key: string]: components["schemas"]["ProviderMetadataItem"];
        };
        /** ProviderMetadataInput */
        ProviderMetadataInput: {
            name: string;
            displayName?: string;
            prompt?: string;
            defaultValue?: string;
            docsURL?: string;
        };
        /** ProviderMetadataItem */
        ProviderMetadataItem: {
            value: string;
            /** @enum {unknown} */
            source: "input" | "token" | "provider";
            displayName?: string;
        };
        /** ProxyConfig */
        ProxyConfig: {
            enabled?: boolean;
        };
        /** ProxyLogEntry */
        ProxyLogEntry: {
            /** @description The `X-Svc-Request-Id` of the answer. */
            requestId: string;
            /** Format: date-time */
            time: string;
            integrationId: string;
            installationId: string;
            connectionId: string;
            groupRef: string;
            provider: string;
            method: string;
            /** @description The path and the names of the query, without their values. */
            path: string;
            /** @description Missing when the caller got no complete answer. */
            status?: number;
            /** @description The code, when the answer was not the provider’s. */
            problem?: string;
            /** @description Until the provider’s answer began, in milliseconds. */
            providerMs?: number;
            /** @description The whole call, in milliseconds. */
            totalMs: number;
        };
        /** ProxyLogEntryPage */
        ProxyLogEntryPage: {
            results: components["schemas"]["ProxyLogEntry"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** RateBudget */
        RateBudget: {
            /**
             * Format: date-time
             * @description Nothing queued is sent before, unless the customer connects again: the limit was reached. At most 24 hours away.
             */
            closedUntil?: string;
            /** @description The provider locked the token out for so long. */
            lockedOut?: boolean;
            /** @description Calls in the window of the provider. */
            limit?: number;
            /** @description Calls that were left in it. */
            remaining?: number;
        };
        /**
         * ReadAccepted
         * @description The operation tells how far the read is.
         */
        ReadAccepted: {
            operationId: string;
        };
        /** ReadAssociationsConfig */
        ReadAssociationsConfig: {
            /** @description Replace those of the integration; none: `[]`. */
            objects?: string[];
            /** @description When changes of associations alone are looked for: cron expression with five fields, at most every hour. */
            schedule?: string;
        };
        /** ReadObjectConfig */
        ReadObjectConfig: {
            /** @description Name of the object at the provider. */
            objectName: string;
            /** @description Cron expression with five fields, at most every ten minutes. */
            schedule?: string;
            /** @description When true, scheduled reads pause and reads on demand are refused. */
            disabled?: boolean;
            /** @description Name of the destination that receives the result. */
            destination?: string;
            /** @description Fields to read, by their name at the provider. */
            selectedFields?: {
                [key: string]: boolean;
            };
            /** @description Per provider field: delivered value to provider value, one to one. */
            selectedValueMappings?: {
                [key: string]: {
                    [key: string]: string;
                };
            };
            dynamicMappingsInput?: components["schemas"]["DynamicMapping"][];
            /** @description The builder's field name to the provider's. */
            selectedFieldMappings?: {
                [key: string]: string;
            };
            /** @enum {unknown} */
            selectedFieldsAuto?: "all";
            backfill?: components["schemas"]["Backfill"];
            fieldFilters?: components["schemas"]["FieldFilter"][];
            associations?: components["schemas"]["ReadAssociationsConfig"];
        };
        /** ReadPreview */
        ReadPreview: {
            /** @description The builder's name of the object. */
            objectName: string;
            /** @description The provider's name of it. */
            rawObjectName: string;
            /** @description The provider's id of the record. */
            recordId?: string;
            /** @description As the message of a delivery has it; empty where no record that was looked at passes the filters. */
            result: components["schemas"]["PreviewedRecord"][];
            /**
             * @description Nothing is shown, and not all records were looked at: one that passes the filters may come behind those.
             * @enum {boolean}
             */
            hasMore?: true;
            /** @description Fields of the config that the object does not have at the provider: they are left out. */
            missingFields: string[];
        };
        /** ReadPreviewRequest */
        ReadPreviewRequest: {
            /** @description The group, by the builder's own id. */
            groupRef: string;
            /** @description Default: that of the installation, else the group's newest connection that works. */
            connectionId?: string;
            config: {
                content: components["schemas"]["ConfigContent"];
            };
        };
        /** ReadRequest */
        ReadRequest: {
            /** @description The group whose records are read. */
            groupRef: string;
            /**
             * @description The records go to the destination of the object.
             * @enum {string}
             */
            mode: "async";
            /**
             * Format: date-time
             * @description Records changed after this time. Missing: all.
             */
            sinceTimestamp?: string;
            /**
             * Format: date-time
             * @description Records changed at this time or before. Missing: all until their page is read.
             */
            untilTimestamp?: string;
        };
        /** ReadRunSummary */
        ReadRunSummary: {
            operationId: string;
            /** @enum {unknown} */
            status: "in_progress" | "success" | "failure";
            /** @description Records that were read. */
            recordsProcessed: number;
            /** @description Records that became part of a message. */
            emitted: number;
            /** @description Of them, those whose message was delivered. */
            delivered: number;
            /**
             * Format: date-time
             * @description When it began. RFC 3339, UTC.
             */
            createTime: string;
        };
        /** ReadState */
        ReadState: {
            status: components["schemas"]["ReadStatus"];
            /** @description The provider's name. */
            objectName: string;
            /** @description The builder's name. */
            mappedObjectName?: string;
            /** @description Cron with five fields, in UTC. Missing: on demand only. */
            schedule?: string;
            destination?: string;
            disabled: boolean;
            paused?: {
                /**
                 * @description `object`, `installation`: by a call; `failures`: by itself, after too many failures; `removed`: a deploy took the object away.
                 * @enum {unknown}
                 */
                reason: "object" | "installation" | "failures" | "removed";
                /**
                 * Format: date-time
                 * @description Since when. RFC 3339, UTC.
                 */
                since: string;
                note?: string;
            };
            /**
             * Format: date-time
             * @description Every change until then was read by the schedule. RFC 3339, UTC.
             */
            watermark: string;
            /**
             * Format: date-time
             * @description When the next scheduled run begins. RFC 3339, UTC.
             */
            nextRunTime?: string;
            /** @description Scheduled runs that failed one after the other. */
            failures: number;
            lastRun?: components["schemas"]["ReadRunSummary"];
            backfill?: components["schemas"]["ReadRunSummary"];
            associations?: components["schemas"]["AssociationsState"];
        };
        /**
         * ReadStatus
         * @description The first that is true. `removed`: a deploy took the object away while it was not paused; `paused`: it is paused, or comparing its associations is; `disabled`: its config switches it off; `failing`: its last scheduled run failed, or the last one that compared its associations; `running`: one of these runs, or its history, is under way; `idle`: none of that.
         * @enum {unknown}
         */
        ReadStatus: "removed" | "paused" | "disabled" | "failing" | "running" | "idle";
        /** RecordDone */
        RecordDone: {
            /** @enum {boolean} */
            success: true;
            /** @description The provider's id. */
            recordId?: string;
            /** @description The record as the provider tells it, or as it was written. */
            data?: {
                [key: string]: unknown;
            };
            /** @description Of an upsert: whether the record was created. Missing where an answer was lost, and its repetition found the record. */
            created?: boolean;
            /** @description As it was sent with the record. */
            reference?: string;
        };
        /** RecordFailed */
        RecordFailed: {
            /** @enum {boolean} */
            success: false;
            errors?: components["schemas"]["WriteFailure"][];
            /** @description As it was sent with the record. */
            reference?: string;
        };
        /**
         * RecordFields
         * @description Field names to values.
         */
        RecordFields: {
            [key: string]: unknown;
        };
        /** RecordRefused */
        RecordRefused: {
            /** Format: uuid */
            operationId: string;
            errors: components["schemas"]["WriteFailure"][];
            result: {
                /** @enum {boolean} */
                success: false;
            };
            /** @description What the provider said, secrets removed. */
            rawResponse?: string;
            warnings?: {
                message: string;
            }[];
        };
        /** RecordWritten */
        RecordWritten: {
            /** Format: uuid */
            operationId: string;
            result: components["schemas"]["RecordDone"];
            warnings?: {
                message: string;
            }[];
        };
        /** RecoveryCodes */
        RecoveryCodes: {
            /** @description Shown once; each stands for one code. */
            recoveryCodes: string[];
        };
        /**
         * RemoveSecondFactorRequest
         * @description `password` is left out by who has none.
         */
        RemoveSecondFactorRequest: {
            password?: string;
        };
        /**
         * Replay
         * @description Messages that are sent again, the oldest first.
         */
        Replay: {
            id: string;
            projectId: string;
            /** @description Where the messages are sent. */
            destinationId: string;
            filter: components["schemas"]["ReplayFilter"];
            /**
             * @description `done`: each message was delivered there, or ran out of attempts.
             * @enum {unknown}
             */
            status: "running" | "done" | "canceled";
            /** @description Why it was canceled. */
            reason?: string;
            progress: {
                /** @description Messages that were queued until now. */
                queued: number;
                delivered: number;
                /** @description Of those queued, what ran out of attempts. */
                failed: number;
                /** @description Of those queued, what waits for an attempt. */
                pending: number;
                /**
                 * Format: date-time
                 * @description Messages created before it were looked at.
                 */
                reachedTime?: string;
            };
            /** Format: date-time */
            createTime: string;
            /** Format: date-time */
            updateTime: string;
        };
        /**
         * ReplayFilter
         * @description All that is named must hold.
         */
        ReplayFilter: {
            /** @description What was for this destination: its id or name. */
            destination?: string;
            status?: components["schemas"]["DeliveryStatus"];
            /** @description The name that it is delivered under, or the provider's. */
            object?: string;
            groupRef?: string;
            installationId?: string;
            /**
             * Format: date-time
             * @description Messages created at this time or later.
             */
            from?: string;
            /**
             * Format: date-time
             * @description Messages created before this time.
             */
            to?: string;
        };
        /** ReplayPage */
        ReplayPage: {
            results: components["schemas"]["Replay"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** ReplayRequest */
        ReplayRequest: {
            filter: components["schemas"]["ReplayFilter"];
            /** @description Where they are sent, by id or name: the destination of the filter unless told. */
            destination?: string;
            /** @description Counts only. */
            dryRun?: boolean;
        };
        /** ReplayStarted */
        ReplayStarted: {
            /** @description Missing for a `dryRun`. */
            replayId?: string;
            /** @description How many messages were found. */
            count: number;
            /** @description False where counting took too long: there may be more, and all are sent. */
            countIsComplete: boolean;
        };
        /** ResolveOperationRequest */
        ResolveOperationRequest: {
            records?: {
                index: number;
                /** @enum {unknown} */
                resolution: "applied" | "notApplied";
                /** @description The provider's id of what was applied. */
                recordId?: string;
            }[];
            /** @enum {unknown} */
            resolution?: "applied" | "notApplied";
            /** @description The provider's id of what was applied. */
            recordId?: string;
        };
        /** ResolvedRecords */
        ResolvedRecords: {
            records: components["schemas"]["OperationRecord"][];
        };
        /** RetriedOperation */
        RetriedOperation: {
            operationId: string;
            /** @description The operation that writes the failed records again; of a dry run, where there is one. */
            retriedBy?: string;
            /**
             * @description They were written again before; nothing was done now.
             * @enum {boolean}
             */
            replayed?: true;
            /** @description Why it is not written again. */
            refused?: {
                code: string;
                detail: string;
            };
        };
        /** RetriedOperations */
        RetriedOperations: {
            results: components["schemas"]["RetriedOperation"][];
            pagination: components["schemas"]["Pagination"];
            /** @description Of this page: written again now; in a dry run, those that would be. */
            retried: number;
            /** @description Of this page: written again before. */
            before: number;
            refused: number;
        };
        /**
         * RetryDeliveryRequest
         * @description May be left away.
         */
        RetryDeliveryRequest: Record<string, never> | null;
        /**
         * RetryOperationRequest
         * @description May be left away.
         */
        RetryOperationRequest: {
            retryPolicy?: {
                /** @default 1 */
                deadlineHours?: number;
            };
        } | null;
        /** RetryOperationsRequest */
        RetryOperationsRequest: {
            /** @description As of the list; `status` is `failure` unless told, and `success` with `partlyDone`. */
            filter: {
                /** @enum {unknown} */
                status?: "in_progress" | "success" | "failure";
                /**
                 * @description With a failure of this category; of those that ended, unless `status` says `in_progress`.
                 * @enum {unknown}
                 */
                errorCategory?: "validation" | "permission" | "auth" | "notFound" | "conflict" | "rateLimit" | "providerDown" | "unknownOutcome" | "internal";
                /** @description With `true` only those that are a `success` although some of their records were not done, or nobody knows; of a read, records whose delivery is not tried again. */
                partlyDone?: boolean;
                /** @description Of this object, by the name that the provider knows it by. */
                object?: string;
                groupRef?: string;
                installationId?: string;
                /** @enum {unknown} */
                actionType?: "write" | "read";
                /**
                 * Format: date-time
                 * @description Accepted at this time or later.
                 */
                from?: string;
                /**
                 * Format: date-time
                 * @description Accepted before this time.
                 */
                to?: string;
            };
            /** @description Answers what would be done; does nothing. */
            dryRun?: boolean;
            retryPolicy?: {
                /** @default 1 */
                deadlineHours?: number;
            };
            /** @description `nextPageToken` of the page before. */
            pageToken?: string;
        };
        /** Revision */
        Revision: {
            /** Format: uuid */
            id: string;
            specVersion: string;
            /**
             * Format: date-time
             * @description When it was deployed.
             */
            createTime: string;
            content: components["schemas"]["ManifestIntegration"];
        };
        /** RevisionPage */
        RevisionPage: {
            results: components["schemas"]["Revision"][];
            pagination: components["schemas"]["Pagination"];
        };
        /**
         * RevisionWarnings
         * @description Where something was found that does not keep the revision from being made.
         */
        RevisionWarnings: {
            warnings: components["schemas"]["ManifestIssue"][];
        };
        /**
         * Role
         * @description `owner`: everything; `developer`: everything but people, exports and keys of scope `full`; `support`: sees and mends, without secrets; `viewer`: sees.
         * @enum {unknown}
         */
        Role: "owner" | "developer" | "support" | "viewer";
        /**
         * RotateDestinationRequest
         * @description May be left away.
         */
        RotateDestinationRequest: {
            /**
             * @description So long the secret of before signs, too.
             * @default 24
             */
            overlapHours?: number;
        } | null;
        /** S3Metadata */
        S3Metadata: {
            /**
             * @description It must exist.
             * @example crm-records
             */
            bucket: string;
            /**
             * @description The region of the bucket. Stores that know none want `us-east-1` or `auto`.
             * @example eu-central-1
             */
            region: string;
            /**
             * @description The key of each object. It may name `{{id}}`, `{{object}}`, `{{groupRef}}`, `{{installationId}}`, `{{projectId}}`, `{{type}}`, `{{time}}`, `{{year}}`, `{{month}}`, `{{day}}`, `{{hour}}`, and must name `{{id}}`, so that no message takes the place of another.
             * @default {{time}}_{{id}}.json
             * @example {{object}}/{{year}}/{{month}}/{{day}}/{{id}}.json
             */
            keyTemplate?: string;
            /**
             * @default STANDARD
             * @example STANDARD_IA
             */
            storageClass?: string;
            /**
             * @description Of a store other than Amazon’s. HTTPS.
             * @example https://minio.example.com
             */
            endpointUrl?: string;
            /**
             * @description Names the bucket in the path and not in the host, as stores want whose host has no name for each bucket.
             * @default false
             */
            pathStyle?: boolean;
        };
        /** S3Secrets */
        S3Secrets: {
            /**
             * @description The id of the access key.
             * @example AKIAIOSFODNN7EXAMPLE
             */
            awsKeyId: string;
            /**
             * @description The access key.
             * @example wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
             */
            awsSecretKey: string;
            /**
             * @description Of temporary keys. When they expire, deliveries fail until they are changed.
             * @example IQoJb3JpZ2lu
             */
            awsSessionToken?: string;
        };
        /**
         * Scope
         * @description `full` reaches everything of its project; `develop` the same but people, exports and keys of scope `full`; `view` what only shows; `remediate` what mends: retries, replays, pauses. The others reach what the endpoints say. `metrics` and `operator` concern all projects: only a key with `operator` gives them.
         */
        Scope: "full" | "develop" | "view" | "remediate" | "write" | "read" | "proxy" | "frontend" | "metrics" | "operator";
        /** SearchFilter */
        SearchFilter: {
            /** @description The provider's or the builder's name. */
            fieldName: string;
            /** @enum {string} */
            operator: "eq";
            value: string | boolean | number;
        };
        /** SearchHit */
        SearchHit: {
            /** @enum {unknown} */
            type: "operation" | "delivery" | "connection" | "installation" | "group" | "consumer" | "integration" | "revision" | "destination" | "topic" | "replay" | "event" | "proxyCall" | "apiKey" | "jwtKey" | "providerApp" | "connectLink" | "person" | "auditEntry";
            /** @description Of a group or a consumer its reference. */
            id: string;
            /** @description As people know it; of an operation its object, and the record id that it was found by. */
            name?: string;
            groupRef?: string;
            integrationId?: string;
            installationId?: string;
            operationId?: string;
        };
        /** SearchHits */
        SearchHits: {
            hits: components["schemas"]["SearchHit"][];
        };
        /** SearchRequest */
        SearchRequest: {
            /** @description The provider's or the builder's name. */
            objectName: string;
            /** @description All of them hold. None: any records. */
            fieldFilters: components["schemas"]["SearchFilter"][];
        };
        /** SearchResult */
        SearchResult: {
            /** @description Those of one page of the provider that pass the filters; empty where none does of all that were looked at. */
            results: components["schemas"]["FoundRecord"][];
            /** @description The same. */
            result: components["schemas"]["FoundRecord"][];
            /**
             * @description Not all records were looked at: more that pass the filters may come behind those, also where nothing was found.
             * @enum {boolean}
             */
            hasMore?: true;
        };
        /**
         * SecondFactorAsked
         * @description The password was right; `POST /v1/session:verify` takes the code.
         */
        SecondFactorAsked: {
            /** @enum {string} */
            state: "secondFactor";
        };
        /** Session */
        Session: {
            /** Format: uuid */
            id: string;
            /** @description Whether it is the one of this browser. */
            isCurrent: boolean;
            /** @description From where it was opened. */
            address?: string;
            /** @description What the browser called itself. */
            userAgent?: string;
            /**
             * Format: date-time
             * @description When it was used last, to the minute.
             */
            lastSeenAt: string;
            /**
             * Format: date-time
             * @description When it was opened.
             */
            createTime: string;
            /**
             * Format: date-time
             * @description When it ends at the latest.
             */
            expiresAt: string;
        };
        /** SessionPage */
        SessionPage: {
            results: components["schemas"]["Session"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** SetNotificationsRequest */
        SetNotificationsRequest: {
            routes: components["schemas"]["NotificationRoute"][];
        };
        /** SignInOptions */
        SignInOptions: {
            oidc?: {
                /** @description For the button. */
                name: string;
                /** @description Where the browser goes; `?returnTo=/path` leads back to a path. */
                startUrl: string;
            };
            /** @description False until the first user came by the link of the first start. */
            hasPeople: boolean;
        };
        /** SignInRequest */
        SignInRequest: {
            /** @description Letters count the same in upper and lower case. */
            email: string;
            password: string;
        };
        /** SignedIn */
        SignedIn: {
            /** @enum {string} */
            state: "signedIn";
            person: components["schemas"]["Person"];
            projects: components["schemas"]["Membership"][];
            /** Format: uuid */
            sessionId: string;
            /**
             * Format: date-time
             * @description When the session ends at the latest; after hours of rest it ends before.
             */
            expiresAt: string;
        };
        /** SlackMetadata */
        SlackMetadata: {
            /**
             * @description The URL of an incoming webhook of Slack, by which anybody can post. It is shown to the scopes `full` and `develop` alone, others see its host.
             * @example https://hooks.slack.com/services/T000/B000/XXXX
             */
            url: string;
        };
        /** SlackSecrets */
        SlackSecrets: Record<string, never>;
        /**
         * Storage
         * @description What a project holds.
         */
        Storage: {
            projectId: string;
            kinds: {
                kind: components["schemas"]["HistoryKind"];
                /** @description How long the operator of this service keeps them. */
                keepDays: number;
                /** @description How long the project wants them kept (`keepDays` of the project), where it says so. What is older is counted here as long as it is on disk. */
                projectKeepDays?: number;
                rows: number;
                /** @description About, as they are stored: without indexes, compressed. */
                bytes: number;
                /** @description There are more than are counted (50,000). */
                isEstimate: boolean;
            }[];
        };
        /** SubscribeObjectConfig */
        SubscribeObjectConfig: {
            /** @description Name of the object at the provider. */
            objectName: string;
            /** @description Name of the destination that receives the events. */
            destination: string;
            inheritFieldsAndMappings?: boolean;
            /** @description The same, in the spelling of the manifest. */
            inheritFieldsAndMapping?: boolean;
            createEvent?: {
                /** @enum {unknown} */
                enabled?: "always" | "never";
            };
            updateEvent?: {
                /** @enum {unknown} */
                enabled?: "always" | "never";
                /** @enum {unknown} */
                watchFieldsAuto?: "all" | "selected";
                requiredWatchFields?: string[];
            };
            deleteEvent?: {
                /** @enum {unknown} */
                enabled?: "always" | "never";
            };
            otherEvents?: string[];
            providerOptions?: {
                quotaOptimization?: {
                    enabled: boolean;
                };
            };
        };
        /** Support */
        Support: {
            proxy: boolean;
            read: boolean;
            write: boolean;
            subscribe: boolean;
            delete: boolean;
            bulkWrite: {
                insert: boolean;
                update: boolean;
                upsert: boolean;
                delete: boolean;
            };
            search: {
                operators: {
                    equals: boolean;
                };
            };
            batchWrite: {
                create: {
                    supported: boolean;
                    defaultRecordLimit?: number;
                };
                update: {
                    supported: boolean;
                    defaultRecordLimit?: number;
                };
                delete: {
                    supported: boolean;
                    defaultRecordLimit?: number;
                };
                upsert: {
                    supported: boolean;
                    defaultRecordLimit?: number;
                };
            };
        };
        /** Token */
        Token: {
            token: string;
            /** @description RFC 3339, UTC. */
            issuedAt?: string;
            /** @description RFC 3339, UTC. */
            expiresAt?: string;
        };
        /** TokenInput */
        TokenInput: {
            /** @description The token. */
            token: string;
            /** Format: date-time */
            issuedAt?: string;
            /** Format: date-time */
            expiresAt?: string;
        };
        /** TokenMetadataFields */
        TokenMetadataFields: {
            /** @description Dotted path into the token response. */
            workspaceRefField?: string;
            consumerRefField?: string;
            scopesField?: string;
            otherFields?: {
                name: string;
                displayName?: string;
                path: string;
                /** @description A regular expression with the group `result`. */
                capture?: string;
            }[];
        };
        /**
         * Topic
         * @description What stands between events and destinations.
         */
        Topic: {
            id: string;
            /** @description Letters, digits and dashes, at most 64; once in a project, whatever its case. */
            name: string;
            projectId: string;
            /** Format: date-time */
            createTime: string;
            /** Format: date-time */
            updateTime?: string;
        };
        /**
         * TopicDestinationRoute
         * @description What comes to this topic goes to this destination.
         */
        TopicDestinationRoute: {
            id: string;
            topicId: string;
            destinationId: string;
            projectId: string;
            /** Format: date-time */
            createTime: string;
        };
        /** TopicDestinationRoutePage */
        TopicDestinationRoutePage: {
            results: components["schemas"]["TopicDestinationRoute"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** TopicPage */
        TopicPage: {
            results: components["schemas"]["Topic"][];
            pagination: components["schemas"]["Pagination"];
        };
        /** TopicRequest */
        TopicRequest: {
            /** @description Letters, digits and dashes, at most 64; once in a project, whatever its case. */
            name: string;
        };
        /** UndoneExport */
        UndoneExport: {
            /** @description How many are used here again. */
            connections: number;
        };
        /** UpdateApiKeyRequest */
        UpdateApiKeyRequest: {
            updateMask: string[];
            apiKey: {
                active?: boolean;
                label?: string;
                scopes?: components["schemas"]["Scope"][];
                expiresAt?: string | null;
            };
        };
        /** UpdateConfigContent */
        UpdateConfigContent: {
            /** @description The SaaS API; the same as the integration names. */
            provider?: string;
            read?: {
                objects?: {
                    [key: string]: components["schemas"]["PartialReadObjectConfig"];
                };
            };
            write?: {
                objects?: {
                    [key: string]: components["schemas"]["PartialWriteObjectConfig"];
                };
            };
            subscribe?: {
                objects?: {
                    [key: string]: components["schemas"]["PartialSubscribeObjectConfig"];
                };
            };
            proxy?: components["schemas"]["ProxyConfig"];
        };
        /** UpdateConnectionRequest */
        UpdateConnectionRequest: {
            updateMask: string[];
            connection: components["schemas"]["ConnectionRequest"];
        };
        /** UpdateDestinationRequest */
        UpdateDestinationRequest: {
            updateMask: string[];
            destination: {
                /** @description Letters, digits and dashes, at most 64, and not in the form of an id; once in a project, whatever its case. */
                name?: string;
                metadata?: {
                    /**
                     * @description Where messages are posted to. HTTPS. The values of its query are shown to the scopes `full` and `develop` alone.
                     * @example https://app.example.com/hooks/svc
                     */
                    url?: string;
                    /** @description Sent with each message. Those of the message itself win. Their values are shown to the scopes `full` and `develop` alone. */
                    headers?: {
                        [key: string]: string;
                    };
                } | {
                    /**
                     * @description `postgresql://user@host:port/database`, without a password. `sslmode` may be `verify-full` (the default), `verify-ca`, `require` or `disable`.
                     * @example postgresql://svc@db.example.com:5432/warehouse
                     */
                    url?: string;
                    /**
                     * @description The schema that holds the tables. It must exist.
                     * @example crm
                     */
                    schema?: string;
                    /**
                     * @description Stands before the name of each object in the names of the tables.
                     * @example hubspot_
                     */
                    tablePrefix?: string;
                } | {
                    /**
                     * @description It must exist.
                     * @example crm-records
                     */
                    bucket?: string;
                    /**
                     * @description The region of the bucket. Stores that know none want `us-east-1` or `auto`.
                     * @example eu-central-1
                     */
                    region?: string;
                    /**
                     * @description The key of each object. It may name `{{id}}`, `{{object}}`, `{{groupRef}}`, `{{installationId}}`, `{{projectId}}`, `{{type}}`, `{{time}}`, `{{year}}`, `{{month}}`, `{{day}}`, `{{hour}}`, and must name `{{id}}`, so that no message takes the place of another.
                     * @default {{time}}_{{id}}.json
                     * @example {{object}}/{{year}}/{{month}}/{{day}}/{{id}}.json
                     */
                    keyTemplate?: string;
                    /**
                     * @default STANDARD
                     * @example STANDARD_IA
                     */
                    storageClass?: string;
                    /**
                     * @description Of a store other than Amazon’s. HTTPS.
                     * @example https://minio.example.com
                     */
                    endpointUrl?: string;
                    /**
                     * @description Names the bucket in the path and not in the host, as stores want whose host has no name for each bucket.
                     * @default false
                     */
                    pathStyle?: boolean;
                } | {
                    /**
                     * @description `amqps://host:port/vhost`, without user and password. `amqp:` is not encrypted.
                     * @example amqps://rabbit.example.com/crm
                     */
                    url?: string;
                    /**
                     * @description It must exist. The empty one takes the name of a queue for the routing key.
                     * @example crm-records
                     */
                    exchange?: string;
                    /**
                     * @description The routing key of each message. It may name `{{id}}`, `{{object}}`, `{{groupRef}}`, `{{installationId}}`, `{{projectId}}`, `{{type}}`, `{{time}}`, `{{year}}`, `{{month}}`, `{{day}}`, `{{hour}}`.
                     * @default {{type}}.{{object}}
                     * @example {{type}}.{{object}}
                     */
                    routingKeyTemplate?: string;
                } | {
                    /**
                     * @description The URL of an incoming webhook of Slack, by which anybody can post. It is shown to the scopes `full` and `develop` alone, others see its host.
                     * @example https://hooks.slack.com/services/T000/B000/XXXX
                     */
                    url?: string;
                } | {
                    /**
                     * @description The file is `files/<project id>/<name>.ndjson` in the folder of `SVC_DATA_DIR`. Letters, digits, `_` and `-`.
                     * @example crm-records
                     */
                    name?: string;
                    /**
                     * @description A file that would become larger is put aside as `<name>.1.ndjson`.
                     * @default 10000000
                     */
                    maxBytes?: number;
                    /**
                     * @description So many are put aside; the oldest is removed.
                     * @default 5
                     */
                    keep?: number;
                };
                secrets?: {
                    /** @description The key of the signatures, `whsec_` and 24 to 64 bytes in base64. Made here unless one is given. */
                    webhookSigningKey?: string;
                } | {
                    /**
                     * @description Of the user in `metadata.url`.
                     * @example a-long-password
                     */
                    password?: string;
                } | {
                    /**
                     * @description The id of the access key.
                     * @example AKIAIOSFODNN7EXAMPLE
                     */
                    awsKeyId?: string;
                    /**
                     * @description The access key.
                     * @example wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
                     */
                    awsSecretKey?: string;
                    /**
                     * @description Of temporary keys. When they expire, deliveries fail until they are changed.
                     * @example IQoJb3JpZ2lu
                     */
                    awsSessionToken?: string;
                } | {
                    /** @example svc */
                    username?: string;
                    /** @example a-long-password */
                    password?: string;
                } | Record<string, never> | Record<string, never>;
            };
        };
        /** UpdateInstallationRequest */
        UpdateInstallationRequest: {
            /** @description Dotted paths, such as `config.content.write.objects.contact`. A named object is replaced whole. */
            updateMask: string[];
            installation: {
                /** @description Default: the group's newest connection that works. */
                connectionId?: string;
                config?: {
                    /**
                     * @deprecated
                     * @description Ignored: the latest revision counts.
                     */
                    revisionId?: string;
                    /** @description One of consumer:{consumer-id}, builder:{builder-id}, api:{api-caller}. */
                    createdBy?: string;
                    content?: components["schemas"]["UpdateConfigContent"];
                };
            };
        };
        /** UpdateJwtKeyRequest */
        UpdateJwtKeyRequest: {
            updateMask: string[];
            jwtKey: {
                active?: boolean;
                label?: string;
                issuer?: string | null;
                audience?: string | null;
                expiresAt?: string | null;
            };
        };
        /** UpdateMemberRequest */
        UpdateMemberRequest: {
            role: components["schemas"]["Role"];
        };
        /** UpdatePersonRequest */
        UpdatePersonRequest: {
            /** @description null: none. */
            name: string | null;
        };
        /** UpdateProjectRequest */
        UpdateProjectRequest: {
            updateMask: string[];
            project: {
                /** @description Unique over the service; kept in lower case. */
                name?: string;
                appName?: string;
                /** @description Origins, such as `https://app.example.com`, whose pages may call the management surface from a browser. */
                allowedOrigins?: string[];
                branding?: components["schemas"]["Branding"];
                keepDays?: components["schemas"]["KeepDaysChange"];
            };
        };
        /** UpdateProviderAppRequest */
        UpdateProviderAppRequest: {
            updateMask: string[];
            providerApp: {
                /** @description A key of the catalogue. */
                provider?: string;
                /** @description From the provider. */
                clientId?: string;
                /** @description From the provider; kept encrypted and never shown. */
                clientSecret?: string;
                /** @description The provider's own id of the app. */
                externalRef?: string;
                /** @description Required for HubSpot. */
                scopes?: string[];
                metadata?: components["schemas"]["ProviderAppMetadata"];
                /**
                 * @description Makes it the app of its provider for whoever names none. The first app is; another one only when told so.
                 * @enum {boolean}
                 */
                isDefault?: true;
            };
        };
        /** ValueDefault */
        ValueDefault: {
            value: string | number | boolean;
            /** @enum {unknown} */
            applyOnUpdate?: "always" | "never";
        };
        /**
         * VerifySecondFactorRequest
         * @description One of both.
         */
        VerifySecondFactorRequest: {
            /** @description What the app shows. */
            code?: string;
            /** @description One of the ten; each holds once. */
            recoveryCode?: string;
        };
        /** WebhookMetadata */
        WebhookMetadata: {
            /**
             * @description Where messages are posted to. HTTPS. The values of its query are shown to the scopes `full` and `develop` alone.
             * @example https://app.example.com/hooks/svc
             */
            url: string;
            /** @description Sent with each message. Those of the message itself win. Their values are shown to the scopes `full` and `develop` alone. */
            headers?: {
                [key: string]: string;
            };
        };
        /** WebhookSecrets */
        WebhookSecrets: {
            /** @description The key of the signatures, `whsec_` and 24 to 64 bytes in base64. Made here unless one is given. */
            webhookSigningKey?: string;
        };
        /** WriteAccepted */
        WriteAccepted: {
            /** Format: uuid */
            operationId: string;
            warnings?: {
                message: string;
            }[];
        };
        /** WriteFailure */
        WriteFailure: {
            /** @enum {unknown} */
            category: "validation" | "permission" | "auth" | "notFound" | "conflict" | "rateLimit" | "providerDown" | "unknownOutcome" | "internal";
            /** @description Whether the same request may succeed later. */
            retryable: boolean;
            message: string;
            /** @description What the provider answered, secrets removed. */
            provider?: {
                status?: number;
                code?: string;
                message?: string;
            };
            /** @description Of a conflict: the record that stands there, where the provider names it. Of an unknown outcome: the record that it may have made. */
            existingRecordId?: string;
        };
        /** WriteObjectConfig */
        WriteObjectConfig: {
            /** @description Name of the object at the provider. */
            objectName: string;
            /** @description Write through the read action's field mappings; the manifest's value when absent. */
            inheritMapping?: boolean;
            deletionSettings?: {
                enabled: boolean;
            };
            /** @description By field name; by mapped name where the mapping is inherited. */
            selectedFieldSettings?: {
                [key: string]: components["schemas"]["FieldSetting"];
            };
            /** @description Deprecated: use `selectedFieldSettings`. */
            selectedValueDefaults?: {
                [key: string]: components["schemas"]["ValueDefault"];
            };
        };
        /** WritePlan */
        WritePlan: {
            records: {
                [key: string]: unknown;
            }[];
            calls: {
                method: string;
                path: string;
                headers?: {
                    [key: string]: string;
                };
                body?: unknown;
            }[];
            /** @description Records that would fail without a call, by their place in the request. */
            refused?: {
                index: number;
                category: string;
                message: string;
            }[];
        };
        /** WritePlanned */
        WritePlanned: {
            plan: components["schemas"]["WritePlan"];
            warnings?: {
                message: string;
            }[];
        };
        /** WritePreviewRequest */
        WritePreviewRequest: {
            /** @description The group, by the builder's own id. */
            groupRef: string;
            /** @description Default: that of the installation, else the group's newest connection that works. */
            connectionId?: string;
            config: {
                content: components["schemas"]["ConfigContent"];
            };
            /** @enum {unknown} */
            type: "create" | "update";
            record: components["schemas"]["RecordFields"];
        };
        /** WriteProblem */
        WriteProblem: {
            /** @description `urn:svc:problem:<code>` */
            type: string;
            /** @description Stable; each has a page in docs/errors. */
            code: string;
            title: string;
            status: number;
            /** @description One sentence the caller can act on. */
            detail: string;
            remedy: string;
            requestId: string;
            retryable: boolean;
            /** Format: date-time */
            time: string;
            /** Format: date-time */
            retryAfter?: string;
            issues?: components["schemas"]["ProblemIssue"][];
            /** @description How many were found beyond those that `issues` tells, which are 20 at the most. */
            moreIssues?: number;
            provider?: components["schemas"]["ProviderAnswer"];
            /** @description `detail` once more, where the other answers of a write have it. */
            errors: {
                message: string;
            }[];
            /**
             * Format: uuid
             * @description When the write was accepted before it failed.
             */
            operationId?: string;
            /** @enum {unknown} */
            category?: "validation" | "permission" | "auth" | "notFound" | "conflict" | "rateLimit" | "providerDown" | "unknownOutcome" | "internal";
        } & {
            [key: string]: unknown;
        };
        /** WriteRequest */
        WriteRequest: {
            /** @description The group whose installation is written to. */
            groupRef: string;
            type: "create" | "update" | "delete" | "upsert";
            /** @description Of an upsert: the field that tells the records apart. The provider must keep its values unique (HubSpot: a unique property, or the email of a contact; Salesforce: an external id). Every record has a value in it. */
            upsertBy?: string;
            /** @description Default synchronous; not used for delete. */
            mode?: "synchronous" | "asynchronous";
            record?: components["schemas"]["RecordFields"];
            batch?: components["schemas"]["BatchItem"][];
            associations?: components["schemas"]["Association"][];
            headers?: {
                key: string;
                value: string;
            }[];
            batchPolicy?: {
                allOrNone?: boolean;
            };
            /** @description Gathers single asynchronous creates and updates into batches of up to 100; `operationId` is that of the batch. */
            autoBatchPolicy?: {
                /** @description How long a batch that this record opens gathers others at the most. */
                maxDelayMinutes: number;
                /** @description Default 1; of the first record, counted from when the batch leaves. */
                retryDeadlineHours?: number;
            };
            retryPolicy?: {
                deadlineHours?: number;
            };
            /** @description What becomes of an asynchronous create whose answer is lost, where no unique field tells whether it was done, or the provider may hide the record and admits its value twice: `fail` (the default) reports the unknown outcome; `retry` sends it again and may make a duplicate. */
            onUnknown?: "fail" | "retry";
            /** @description Answers what would be sent; sends nothing. */
            dryRun?: boolean;
        };
        /** WrittenRecord */
        WrittenRecord: {
            /** @description The record's place in the request, from 0. */
            index: number;
            /** @description As the caller sent it. */
            reference?: string;
            /** @description The provider's id. */
            recordId?: string;
            /** @description Of an upsert: whether the record was created, where that is known. */
            created?: boolean;
            /** @description Absent while the record has no outcome. */
            success?: boolean;
            /** @description How its last attempt failed; it stays when the record is resolved. */
            errors: components["schemas"]["OperationFailure"][];
            /**
             * @description What is known of it: from the provider, or, for a record of unknown outcome, from who resolved it.
             * @enum {unknown}
             */
            resolution: "pending" | "applied" | "notApplied" | "unknown";
            /** @description The unique field by which the record was looked up at the provider after an answer was lost. */
            lookedUpBy?: string;
            /** @description Whose key resolved it by hand, such as `apiKey:k1`. */
            resolvedBy?: string;
            /** @description When it was resolved by hand. RFC 3339, UTC. */
            resolvedAt?: string;
            /** @description What was asked to be written: `fields` by the names of the provider, the `id` of a record that was updated or deleted, `key` and `onUpdate` of an upsert, `associations`. */
            content: {
                [key: string]: unknown;
            };
        };
    };
    responses: {
        /** @description A problem (RFC 9457). */
        Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type AcceptInvitationRequest = components['schemas']['AcceptInvitationRequest'];
export type Activity = components['schemas']['Activity'];
export type AmqpMetadata = components['schemas']['AmqpMetadata'];
export type AmqpSecrets = components['schemas']['AmqpSecrets'];
export type ApiKey = components['schemas']['ApiKey'];
export type ApiKeyOpts = components['schemas']['ApiKeyOpts'];
export type ApiKeyPage = components['schemas']['ApiKeyPage'];
export type Association = components['schemas']['Association'];
export type AssociationsState = components['schemas']['AssociationsState'];
export type Attention = components['schemas']['Attention'];
export type AuditAction = components['schemas']['AuditAction'];
export type AuditEntry = components['schemas']['AuditEntry'];
export type AuditEntryPage = components['schemas']['AuditEntryPage'];
export type AuditTable = components['schemas']['AuditTable'];
export type Backfill = components['schemas']['Backfill'];
export type BackfillProgress = components['schemas']['BackfillProgress'];
export type BasicOpts = components['schemas']['BasicOpts'];
export type BatchItem = components['schemas']['BatchItem'];
export type BatchWritten = components['schemas']['BatchWritten'];
export type BeginSecondFactorRequest = components['schemas']['BeginSecondFactorRequest'];
export type Branding = components['schemas']['Branding'];
export type BrowserPage = components['schemas']['BrowserPage'];
export type CancelOperationsRequest = components['schemas']['CancelOperationsRequest'];
export type CanceledOperation = components['schemas']['CanceledOperation'];
export type CanceledOperations = components['schemas']['CanceledOperations'];
export type Change = components['schemas']['Change'];
export type ChangePasswordRequest = components['schemas']['ChangePasswordRequest'];
export type Changes = components['schemas']['Changes'];
export type Config = components['schemas']['Config'];
export type ConfigContent = components['schemas']['ConfigContent'];
export type ConfigPage = components['schemas']['ConfigPage'];
export type ConfirmSecondFactorRequest = components['schemas']['ConfirmSecondFactorRequest'];
export type ConnectLink = components['schemas']['ConnectLink'];
export type ConnectLinkPage = components['schemas']['ConnectLinkPage'];
export type ConnectLinkProject = components['schemas']['ConnectLinkProject'];
export type ConnectUrl = components['schemas']['ConnectUrl'];
export type Connection = components['schemas']['Connection'];
export type ConnectionPage = components['schemas']['ConnectionPage'];
export type ConnectionRequest = components['schemas']['ConnectionRequest'];
export type Consumer = components['schemas']['Consumer'];
export type CreateApiKeyRequest = components['schemas']['CreateApiKeyRequest'];
export type CreateConnectLinkRequest = components['schemas']['CreateConnectLinkRequest'];
export type CreateDestinationRequest = components['schemas']['CreateDestinationRequest'];
export type CreateFrontendTokenRequest = components['schemas']['CreateFrontendTokenRequest'];
export type CreateInstallationRequest = components['schemas']['CreateInstallationRequest'];
export type CreateIntegrationRequest = components['schemas']['CreateIntegrationRequest'];
export type CreateInvitationRequest = components['schemas']['CreateInvitationRequest'];
export type CreateJwtKeyRequest = components['schemas']['CreateJwtKeyRequest'];
export type CreateNotificationEventTopicRouteRequest = components['schemas']['CreateNotificationEventTopicRouteRequest'];
export type CreateProjectRequest = components['schemas']['CreateProjectRequest'];
export type CreateProviderAppRequest = components['schemas']['CreateProviderAppRequest'];
export type CreateTopicDestinationRouteRequest = components['schemas']['CreateTopicDestinationRouteRequest'];
export type CreatedJwtKey = components['schemas']['CreatedJwtKey'];
export type CreatedProject = components['schemas']['CreatedProject'];
export type CustomAuthInput = components['schemas']['CustomAuthInput'];
export type CustomAuthOpts = components['schemas']['CustomAuthOpts'];
export type Delivery = components['schemas']['Delivery'];
export type DeliveryAttempt = components['schemas']['DeliveryAttempt'];
export type DeliveryDetail = components['schemas']['DeliveryDetail'];
export type DeliveryPage = components['schemas']['DeliveryPage'];
export type DeliveryStatus = components['schemas']['DeliveryStatus'];
export type DeployImpact = components['schemas']['DeployImpact'];
export type DeployPreview = components['schemas']['DeployPreview'];
export type DeployedChange = components['schemas']['DeployedChange'];
export type DeployedIntegration = components['schemas']['DeployedIntegration'];
export type Destination = components['schemas']['Destination'];
export type DestinationPage = components['schemas']['DestinationPage'];
export type DestinationTest = components['schemas']['DestinationTest'];
export type DestinationType = components['schemas']['DestinationType'];
export type DynamicMapping = components['schemas']['DynamicMapping'];
export type EndedSeries = components['schemas']['EndedSeries'];
export type Erasure = components['schemas']['Erasure'];
export type ErasureRequest = components['schemas']['ErasureRequest'];
export type Event = components['schemas']['Event'];
export type EventPage = components['schemas']['EventPage'];
export type EventType = components['schemas']['EventType'];
export type Export = components['schemas']['Export'];
export type ExportRequest = components['schemas']['ExportRequest'];
export type FieldFilter = components['schemas']['FieldFilter'];
export type FieldMetadata = components['schemas']['FieldMetadata'];
export type FieldSetting = components['schemas']['FieldSetting'];
export type FileMetadata = components['schemas']['FileMetadata'];
export type FileSecrets = components['schemas']['FileSecrets'];
export type FoundRecord = components['schemas']['FoundRecord'];
export type FrontendToken = components['schemas']['FrontendToken'];
export type Group = components['schemas']['Group'];
export type HistoryKind = components['schemas']['HistoryKind'];
export type HydratedField = components['schemas']['HydratedField'];
export type HydratedReadObject = components['schemas']['HydratedReadObject'];
export type HydratedRevision = components['schemas']['HydratedRevision'];
export type HydratedWriteObject = components['schemas']['HydratedWriteObject'];
export type Import = components['schemas']['Import'];
export type ImportRequest = components['schemas']['ImportRequest'];
export type ImportedTokens = components['schemas']['ImportedTokens'];
export type Installation = components['schemas']['Installation'];
export type InstallationPage = components['schemas']['InstallationPage'];
export type Integration = components['schemas']['Integration'];
export type IntegrationPage = components['schemas']['IntegrationPage'];
export type Invitation = components['schemas']['Invitation'];
export type InvitationLook = components['schemas']['InvitationLook'];
export type InvitationPage = components['schemas']['InvitationPage'];
export type JwtKey = components['schemas']['JwtKey'];
export type JwtKeyPage = components['schemas']['JwtKeyPage'];
export type KeepDays = components['schemas']['KeepDays'];
export type KeepDaysChange = components['schemas']['KeepDaysChange'];
export type LookAtInvitationRequest = components['schemas']['LookAtInvitationRequest'];
export type ManifestAssociationChangeEvent = components['schemas']['ManifestAssociationChangeEvent'];
export type ManifestAssociations = components['schemas']['ManifestAssociations'];
export type ManifestBackfill = components['schemas']['ManifestBackfill'];
export type ManifestDelivery = components['schemas']['ManifestDelivery'];
export type ManifestField = components['schemas']['ManifestField'];
export type ManifestIntegration = components['schemas']['ManifestIntegration'];
export type ManifestIssue = components['schemas']['ManifestIssue'];
export type ManifestReadObject = components['schemas']['ManifestReadObject'];
export type ManifestSource = components['schemas']['ManifestSource'];
export type ManifestSubscribeObject = components['schemas']['ManifestSubscribeObject'];
export type ManifestText = components['schemas']['ManifestText'];
export type ManifestUpdateEvent = components['schemas']['ManifestUpdateEvent'];
export type ManifestWatchSchema = components['schemas']['ManifestWatchSchema'];
export type ManifestWriteObject = components['schemas']['ManifestWriteObject'];
export type Member = components['schemas']['Member'];
export type MemberPage = components['schemas']['MemberPage'];
export type Membership = components['schemas']['Membership'];
export type MessageResult = components['schemas']['MessageResult'];
export type NewSecondFactor = components['schemas']['NewSecondFactor'];
export type NotificationEventTopicRoute = components['schemas']['NotificationEventTopicRoute'];
export type NotificationEventTopicRoutePage = components['schemas']['NotificationEventTopicRoutePage'];
export type NotificationRoute = components['schemas']['NotificationRoute'];
export type Notifications = components['schemas']['Notifications'];
export type OAuth2ClientCredentials = components['schemas']['OAuth2ClientCredentials'];
export type OAuth2Opts = components['schemas']['OAuth2Opts'];
export type OAuth2PasswordCredentials = components['schemas']['OAuth2PasswordCredentials'];
export type OAuthConnectRequest = components['schemas']['OAuthConnectRequest'];
export type ObjectMetadata = components['schemas']['ObjectMetadata'];
export type OpenConnectLinkRequest = components['schemas']['OpenConnectLinkRequest'];
export type OpenedConnectLink = components['schemas']['OpenedConnectLink'];
export type Operation = components['schemas']['Operation'];
export type OperationExchange = components['schemas']['OperationExchange'];
export type OperationExchangePage = components['schemas']['OperationExchangePage'];
export type OperationFailure = components['schemas']['OperationFailure'];
export type OperationLog = components['schemas']['OperationLog'];
export type OperationPage = components['schemas']['OperationPage'];
export type OperationRecord = components['schemas']['OperationRecord'];
export type OperationRecordPage = components['schemas']['OperationRecordPage'];
export type Overview = components['schemas']['Overview'];
export type Pagination = components['schemas']['Pagination'];
export type PartialReadObjectConfig = components['schemas']['PartialReadObjectConfig'];
export type PartialSubscribeObjectConfig = components['schemas']['PartialSubscribeObjectConfig'];
export type PartialWriteObjectConfig = components['schemas']['PartialWriteObjectConfig'];
export type PatchObjectConfigContentRequest = components['schemas']['PatchObjectConfigContentRequest'];
export type PauseReadsRequest = components['schemas']['PauseReadsRequest'];
export type Person = components['schemas']['Person'];
export type PostgresMetadata = components['schemas']['PostgresMetadata'];
export type PostgresSecrets = components['schemas']['PostgresSecrets'];
export type PreviewedRecord = components['schemas']['PreviewedRecord'];
export type Problem = components['schemas']['Problem'];
export type ProblemIssue = components['schemas']['ProblemIssue'];
export type Project = components['schemas']['Project'];
export type ProjectFile = components['schemas']['ProjectFile'];
export type ProjectPage = components['schemas']['ProjectPage'];
export type ProjectReadState = components['schemas']['ProjectReadState'];
export type ProjectReadStatePage = components['schemas']['ProjectReadStatePage'];
export type ProviderAnswer = components['schemas']['ProviderAnswer'];
export type ProviderApp = components['schemas']['ProviderApp'];
export type ProviderAppMetadata = components['schemas']['ProviderAppMetadata'];
export type ProviderAppPage = components['schemas']['ProviderAppPage'];
export type ProviderCatalogue = components['schemas']['ProviderCatalogue'];
export type ProviderInfo = components['schemas']['ProviderInfo'];
export type ProviderMetadata = components['schemas']['ProviderMetadata'];
export type ProviderMetadataInput = components['schemas']['ProviderMetadataInput'];
export type ProviderMetadataItem = components['schemas']['ProviderMetadataItem'];
export type ProxyConfig = components['schemas']['ProxyConfig'];
export type ProxyLogEntry = components['schemas']['ProxyLogEntry'];
export type ProxyLogEntryPage = components['schemas']['ProxyLogEntryPage'];
export type RateBudget = components['schemas']['RateBudget'];
export type ReadAccepted = components['schemas']['ReadAccepted'];
export type ReadAssociationsConfig = components['schemas']['ReadAssociationsConfig'];
export type ReadObjectConfig = components['schemas']['ReadObjectConfig'];
export type ReadPreview = components['schemas']['ReadPreview'];
export type ReadPreviewRequest = components['schemas']['ReadPreviewRequest'];
export type ReadRequest = components['schemas']['ReadRequest'];
export type ReadRunSummary = components['schemas']['ReadRunSummary'];
export type ReadState = components['schemas']['ReadState'];
export type ReadStatus = components['schemas']['ReadStatus'];
export type RecordDone = components['schemas']['RecordDone'];
export type RecordFailed = components['schemas']['RecordFailed'];
export type RecordFields = components['schemas']['RecordFields'];
export type RecordRefused = components['schemas']['RecordRefused'];
export type RecordWritten = components['schemas']['RecordWritten'];
export type RecoveryCodes = components['schemas']['RecoveryCodes'];
export type RemoveSecondFactorRequest = components['schemas']['RemoveSecondFactorRequest'];
export type Replay = components['schemas']['Replay'];
export type ReplayFilter = components['schemas']['ReplayFilter'];
export type ReplayPage = components['schemas']['ReplayPage'];
export type ReplayRequest = components['schemas']['ReplayRequest'];
export type ReplayStarted = components['schemas']['ReplayStarted'];
export type ResolveOperationRequest = components['schemas']['ResolveOperationRequest'];
export type ResolvedRecords = components['schemas']['ResolvedRecords'];
export type RetriedOperation = components['schemas']['RetriedOperation'];
export type RetriedOperations = components['schemas']['RetriedOperations'];
export type RetryDeliveryRequest = components['schemas']['RetryDeliveryRequest'];
export type RetryOperationRequest = components['schemas']['RetryOperationRequest'];
export type RetryOperationsRequest = components['schemas']['RetryOperationsRequest'];
export type Revision = components['schemas']['Revision'];
export type RevisionPage = components['schemas']['RevisionPage'];
export type RevisionWarnings = components['schemas']['RevisionWarnings'];
export type Role = components['schemas']['Role'];
export type RotateDestinationRequest = components['schemas']['RotateDestinationRequest'];
export type S3Metadata = components['schemas']['S3Metadata'];
export type S3Secrets = components['schemas']['S3Secrets'];
export type Scope = components['schemas']['Scope'];
export type SearchFilter = components['schemas']['SearchFilter'];
export type SearchHit = components['schemas']['SearchHit'];
export type SearchHits = components['schemas']['SearchHits'];
export type SearchRequest = components['schemas']['SearchRequest'];
export type SearchResult = components['schemas']['SearchResult'];
export type SecondFactorAsked = components['schemas']['SecondFactorAsked'];
export type Session = components['schemas']['Session'];
export type SessionPage = components['schemas']['SessionPage'];
export type SetNotificationsRequest = components['schemas']['SetNotificationsRequest'];
export type SignInOptions = components['schemas']['SignInOptions'];
export type SignInRequest = components['schemas']['SignInRequest'];
export type SignedIn = components['schemas']['SignedIn'];
export type SlackMetadata = components['schemas']['SlackMetadata'];
export type SlackSecrets = components['schemas']['SlackSecrets'];
export type Storage = components['schemas']['Storage'];
export type SubscribeObjectConfig = components['schemas']['SubscribeObjectConfig'];
export type Support = components['schemas']['Support'];
export type Token = components['schemas']['Token'];
export type TokenInput = components['schemas']['TokenInput'];
export type TokenMetadataFields = components['schemas']['TokenMetadataFields'];
export type Topic = components['schemas']['Topic'];
export type TopicDestinationRoute = components['schemas']['TopicDestinationRoute'];
export type TopicDestinationRoutePage = components['schemas']['TopicDestinationRoutePage'];
export type TopicPage = components['schemas']['TopicPage'];
export type TopicRequest = components['schemas']['TopicRequest'];
export type UndoneExport = components['schemas']['UndoneExport'];
export type UpdateApiKeyRequest = components['schemas']['UpdateApiKeyRequest'];
export type UpdateConfigContent = components['schemas']['UpdateConfigContent'];
export type UpdateConnectionRequest = components['schemas']['UpdateConnectionRequest'];
export type UpdateDestinationRequest = components['schemas']['UpdateDestinationRequest'];
export type UpdateInstallationRequest = components['schemas']['UpdateInstallationRequest'];
export type UpdateJwtKeyRequest = components['schemas']['UpdateJwtKeyRequest'];
export type UpdateMemberRequest = components['schemas']['UpdateMemberRequest'];
export type UpdatePersonRequest = components['schemas']['UpdatePersonRequest'];
export type UpdateProjectRequest = components['schemas']['UpdateProjectRequest'];
export type UpdateProviderAppRequest = components['schemas']['UpdateProviderAppRequest'];
export type ValueDefault = components['schemas']['ValueDefault'];
export type VerifySecondFactorRequest = components['schemas']['VerifySecondFactorRequest'];
export type WebhookMetadata = components['schemas']['WebhookMetadata'];
export type WebhookSecrets = components['schemas']['WebhookSecrets'];
export type WriteAccepted = components['schemas']['WriteAccepted'];
export type WriteFailure = components['schemas']['WriteFailure'];
export type WriteObjectConfig = components['schemas']['WriteObjectConfig'];
export type WritePlan = components['schemas']['WritePlan'];
export type WritePlanned = components['schemas']['WritePlanned'];
export type WritePreviewRequest = components['schemas']['WritePreviewRequest'];
export type WriteProblem = components['schemas']['WriteProblem'];
export type WriteRequest = components['schemas']['WriteRequest'];
export type WrittenRecord = components['schemas']['WrittenRecord'];
export type ResponseProblem = components['responses']['Problem'];
export type $defs = Record<string, never>;
export interface operations {
    oauthStart: {
        parameters: {
            query?: {
                flow?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To the provider. */
            "3XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The page of a link that was used, is not known, is over, or was opened by another browser before. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": components["schemas"]["BrowserPage"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    oauthCallback: {
        parameters: {
            query?: {
                state?: string;
                code?: string;
                error?: string;
                error_description?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page that tells its opener the outcome and closes itself. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": components["schemas"]["BrowserPage"];
                };
            };
            /** @description To the return URL, with `connectionId` or `error`. */
            "3XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The page of a flow that ended without a connection. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": components["schemas"]["BrowserPage"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    oidcStart: {
        parameters: {
            query?: {
                /** @description A path of this service, for afterwards. */
                returnTo?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            400: components["responses"]["Problem"];
            /** @description To the provider, or back to the page of signing in. */
            "3XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    oidcCallback: {
        parameters: {
            query?: {
                state?: string;
                code?: string;
                error?: string;
                error_description?: string;
                iss?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            400: components["responses"]["Problem"];
            /** @description To a page of this service. */
            "3XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    listProviders: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderCatalogue"];
                };
            };
            "4XX": components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getProvider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderInfo"];
                };
            };
            400: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listProjects: {
        parameters: {
            query?: {
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"][] | components["schemas"]["ProjectPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createProject: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateProjectRequest"];
            };
        };
        responses: {
            /** @description The project with its first key, which is shown here only. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedProject"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    updateProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateProjectRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                active?: boolean;
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"][] | components["schemas"]["ApiKeyPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateApiKeyRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
                /** @description The id of the key: the part between the first two underscores. */
                apiKeyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
                /** @description The id of the key: the part between the first two underscores. */
                apiKeyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    updateApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
                /** @description The id of the key: the part between the first two underscores. */
                apiKeyId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateApiKeyRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listJWTKeys: {
        parameters: {
            query?: {
                /** @description Only the active ones. */
                active?: boolean;
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JwtKey"][] | components["schemas"]["JwtKeyPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createJWTKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateJwtKeyRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedJwtKey"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getJWTKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
                /** @description The id of the key, sent as `kid` in each token. */
                jwtKeyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JwtKey"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteJWTKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
                /** @description The id of the key, sent as `kid` in each token. */
                jwtKeyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    updateJWTKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
                /** @description The id of the key, sent as `kid` in each token. */
                jwtKeyId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateJwtKeyRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JwtKey"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createFrontendToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateFrontendTokenRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FrontendToken"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listConnectLinks: {
        parameters: {
            query?: {
                /** @description Only of this group. */
                groupRef?: string;
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectLink"][] | components["schemas"]["ConnectLinkPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createConnectLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateConnectLinkRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectLink"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteConnectLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
                /** @description The id of the link. */
                connectLinkId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    openConnectLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenConnectLinkRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedConnectLink"];
                };
            };
            400: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listProviderApps: {
        parameters: {
            query?: {
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderApp"][] | components["schemas"]["ProviderAppPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createProviderApp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateProviderAppRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderApp"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteProviderApp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
                /** @description The id of the provider app. */
                providerAppId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    updateProviderApp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
                /** @description The id of the provider app. */
                providerAppId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateProviderAppRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderApp"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listIntegrations: {
        parameters: {
            query?: {
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. A page ends early where its things hold 1 MiB. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Integration"][] | components["schemas"]["IntegrationPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createIntegration: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateIntegrationRequest"];
            };
        };
        responses: {
            /** @description An empty body. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getIntegration: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
                /** @description The id or name of the integration. */
                integrationIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Integration"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteIntegration: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
                /** @description The id or name of the integration. */
                integrationIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listRevisions: {
        parameters: {
            query?: {
                /** @description A page ends early where its things hold 1 MiB. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
                /** @description The id or name of the integration. */
                integrationIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevisionPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createRevision: {
        parameters: {
            query?: {
                /** @description Whether what the manifest no longer holds ends for the installations that have it: reads pause, writes are refused. Without it, they go on as before. */
                destructive?: boolean;
            };
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
                /** @description The id or name of the integration. */
                integrationIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ManifestSource"];
                "application/yaml": components["schemas"]["ManifestText"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": null | components["schemas"]["RevisionWarnings"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    batchUpsertIntegrations: {
        parameters: {
            query?: {
                /** @description Whether what the manifest no longer holds ends for the installations that have it: reads pause, writes are refused. Without it, they go on as before. */
                destructive?: boolean;
                /** @description Answer what the deploy would change, and write nothing. */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                /** @description The id or name of the project. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ManifestSource"];
                "application/yaml": components["schemas"]["ManifestText"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeployedIntegration"][] | components["schemas"]["DeployPreview"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getSignInOptions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInOptions"];
                };
            };
            "4XX": components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    signIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignInRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"] | components["schemas"]["SecondFactorAsked"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    signOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    verifySecondFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description One of both. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifySecondFactorRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"] | components["schemas"]["SecondFactorAsked"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    lookAtInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LookAtInvitationRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationLook"];
                };
            };
            400: components["responses"]["Problem"];
            410: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    acceptInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description `email` where the link names none. `password`: the one that is to be set, or the one of the account that exists. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcceptInvitationRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"] | components["schemas"]["SecondFactorAsked"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            410: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            422: components["responses"]["Problem"];
            429: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"][] | components["schemas"]["SessionPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    updatePerson: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdatePersonRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description `currentPassword` is left out by who has none. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePasswordRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    beginSecondFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description May be left away. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["BeginSecondFactorRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewSecondFactor"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    confirmSecondFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfirmSecondFactorRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryCodes"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    removeSecondFactor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description `password` is left out by who has none. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["RemoveSecondFactorRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listMembers: {
        parameters: {
            query?: {
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"][] | components["schemas"]["MemberPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    removeMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                personId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    updateMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                personId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateMemberRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Member"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listInvitations: {
        parameters: {
            query?: {
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invitation"][] | components["schemas"]["InvitationPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateInvitationRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invitation"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                invitationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listAuditLog: {
        parameters: {
            query?: {
                /** @description What was done to what. `connection.disclosed`, `destination.disclosed`: its credentials were shown; `connection.sampled`: one record of the account was shown, as a config would have it delivered; `project.exported`: all of them left, sealed with a passphrase. */
                action?: "project.created" | "project.updated" | "project.exported" | "project.imported" | "project.takenBack" | "apiKey.created" | "apiKey.updated" | "apiKey.deleted" | "jwtKey.created" | "jwtKey.updated" | "jwtKey.deleted" | "frontendToken.created" | "connectLink.created" | "connectLink.opened" | "connectLink.deleted" | "providerApp.created" | "providerApp.updated" | "providerApp.deleted" | "integration.created" | "integration.revised" | "integration.deleted" | "deploy.done" | "connection.authorizing" | "connection.refused" | "connection.created" | "connection.updated" | "connection.deleted" | "connection.refreshed" | "connection.disclosed" | "connection.sampled" | "installation.created" | "installation.updated" | "installation.deleted" | "operation.resolved" | "operation.retried" | "operation.canceled" | "read.paused" | "read.unpaused" | "destination.created" | "destination.updated" | "destination.deleted" | "destination.disclosed" | "destination.rotated" | "destination.enabled" | "destination.disabled" | "destination.tested" | "delivery.retried" | "replay.started" | "replay.canceled" | "erasure.started" | "erasure.done" | "topic.created" | "topic.updated" | "topic.deleted" | "eventTopicRoute.created" | "eventTopicRoute.deleted" | "topicDestinationRoute.created" | "topicDestinationRoute.deleted" | "notifications.changed" | "invitation.created" | "invitation.deleted" | "member.joined" | "member.updated" | "member.removed" | "person.updated";
                /** @description Done to this; a UUID in any case. */
                targetId?: string;
                /** @description Done with this key. */
                keyId?: string;
                /** @description Done by this group, or to it: to what `details` says is of the group, such as its connections and installations. */
                groupRef?: string;
                /** @description Done by this person. */
                personId?: string;
                from?: string;
                /** @description Before this moment. */
                to?: string;
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntryPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    exportAuditLog: {
        parameters: {
            query?: {
                /** @description `csv`: what a spreadsheet would take for a formula has an apostrophe before it. */
                format?: "ndjson" | "csv";
                from?: string;
                /** @description Before this moment. */
                to?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A line for each entry. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["AuditEntry"];
                    "text/csv": components["schemas"]["AuditTable"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    oauthConnect: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OAuthConnectRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": components["schemas"]["ConnectUrl"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    oauthUpdate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectIdOrName: string;
                connectionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": components["schemas"]["ConnectUrl"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    generateConnection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConnectionRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connection"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listConnections: {
        parameters: {
            query?: {
                provider?: string;
                groupRef?: string;
                consumerRef?: string;
                status?: "created" | "working" | "bad_credentials";
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connection"][] | components["schemas"]["ConnectionPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getConnection: {
        parameters: {
            query?: {
                /** @description Adds the access token or API key. Scope `full` or `develop`. */
                includeCreds?: boolean;
                /** @description Adds the refresh token, too; implies includeCreds. Scope `full` or `develop`. */
                includeRefreshToken?: boolean;
                /** @description Refreshes the token first. Scope `full` or `develop`. */
                refresh?: "force" | "ifExpired";
            };
            header?: never;
            path: {
                projectIdOrName: string;
                connectionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connection"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteConnection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectIdOrName: string;
                connectionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    updateConnection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectIdOrName: string;
                connectionId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateConnectionRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Connection"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description What happened. */
                type?: "connection.created" | "connection.refreshed" | "connection.updated" | "connection.deleted" | "connection.error" | "installation.created" | "installation.updated" | "installation.deleted" | "read.backfill.done" | "read.backfill.error" | "read.schedule.paused" | "read.triggered.done" | "read.triggered.error" | "read.waiting" | "write.async.done" | "destination.webhook.disabled" | "destination.deliveries.failed";
                /** @description Of this connection only. */
                connectionId?: string;
                /** @description A page ends early where its things hold 1 MiB. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listInstallationsForProject: {
        parameters: {
            query?: {
                /** @description Only of this group. */
                groupRef?: string;
                /** @description `unhealthy`: the connection has bad credentials or is gone, or at least half of the operations of late failed, and more than one. */
                healthStatus?: "healthy" | "unhealthy";
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. A page ends early where its things hold 1 MiB. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Installation"][] | components["schemas"]["InstallationPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listInstallations: {
        parameters: {
            query?: {
                /** @description Only of this group. */
                groupRef?: string;
                /** @description `unhealthy`: the connection has bad credentials or is gone, or at least half of the operations of late failed, and more than one. */
                healthStatus?: "healthy" | "unhealthy";
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. A page ends early where its things hold 1 MiB. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Installation"][] | components["schemas"]["InstallationPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createInstallation: {
        parameters: {
            query?: {
                /** @description When true, the provider is not asked whether the objects and fields exist. */
                skipSampling?: boolean;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateInstallationRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Installation"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getInstallation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
                /** @description Installation id. */
                installationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Installation"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteInstallation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
                /** @description Installation id. */
                installationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    updateInstallation: {
        parameters: {
            query?: {
                /** @description When true, the provider is not asked whether the objects and fields exist. */
                skipSampling?: boolean;
                /** @description The id of the config that the change was made on: answered by config-changed when the installation has another one. */
                ifConfigId?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
                /** @description Installation id. */
                installationId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateInstallationRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Installation"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    patchObjectConfigContent: {
        parameters: {
            query?: {
                /** @description When true, the provider is not asked whether the objects and fields exist. */
                skipSampling?: boolean;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
                objectName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchObjectConfigContentRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Installation"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getInstallationForProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Installation id. */
                installationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Installation"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listConfigs: {
        parameters: {
            query?: {
                /** @description A page ends early where its things hold 1 MiB. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Installation id. */
                installationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfigPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getObjectMetadataForInstallation: {
        parameters: {
            query: {
                /** @description The group in whose account the object is looked at. */
                groupRef: string;
                /** @description Leaves away the fields that cannot be written. */
                excludeReadOnly?: boolean;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
                /** @description The provider's name of the object, or the integration's `mapToName`. */
                objectName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ObjectMetadata"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getObjectMetadataForConnection: {
        parameters: {
            query: {
                /** @description The group in whose account the object is looked at. */
                groupRef: string;
                /** @description Leaves away the fields that cannot be written. */
                excludeReadOnly?: boolean;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                provider: string;
                objectName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ObjectMetadata"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getHydratedRevision: {
        parameters: {
            query: {
                connectionId: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
                revisionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HydratedRevision"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listOperationsForProject: {
        parameters: {
            query?: {
                status?: "in_progress" | "success" | "failure";
                /** @description With a failure of this category; of those that ended, unless `status` says `in_progress`. */
                errorCategory?: "validation" | "permission" | "auth" | "notFound" | "conflict" | "rateLimit" | "providerDown" | "unknownOutcome" | "internal";
                /** @description With `true` only those that are a `success` although some of their records were not done, or nobody knows; of a read, records whose delivery is not tried again. */
                partlyDone?: boolean;
                /** @description Of this object, by the name that the provider knows it by. */
                object?: string;
                groupRef?: string;
                installationId?: string;
                actionType?: "write" | "read";
                /** @description Accepted at this time or later. */
                from?: string;
                /** @description Accepted before this time. */
                to?: string;
                /** @description With `true` only those that hold a record of unknown outcome of which nobody has said what became. */
                unresolved?: boolean;
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listOperations: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
                /** @description Installation id. */
                installationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getOperation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Operation id. */
                operationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operation"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listOperationLogs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Operation id. */
                operationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationLog"][];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listOperationExchanges: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Operation id. */
                operationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationExchangePage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listOperationRecords: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Operation id. */
                operationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationRecordPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getOperationRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Operation id. */
                operationId: string;
                /** @description The record's place in the request, from 0. */
                index: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WrittenRecord"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    resolveOperation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Operation id. */
                operationId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolveOperationRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResolvedRecords"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    retryOperation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectIdOrName: string;
                operationId: string;
            };
            cookie?: never;
        };
        /** @description May be left away. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetryOperationRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WriteAccepted"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    retryOperations: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetryOperationsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetriedOperations"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    cancelOperations: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CancelOperationsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CanceledOperations"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    previewWrite: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
                /** @description The provider's name of the object. */
                objectName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WritePreviewRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WritePlanned"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listReadsForProject: {
        parameters: {
            query?: {
                /** @description Only of this group. */
                groupRef?: string;
                /** @description Only of this installation. */
                installationId?: string;
                /** @description Only of this object: the provider's name, whatever its case. */
                object?: string;
                /** @description The first that is true. `removed`: a deploy took the object away while it was not paused; `paused`: it is paused, or comparing its associations is; `disabled`: its config switches it off; `failing`: its last scheduled run failed, or the last one that compared its associations; `running`: one of these runs, or its history, is under way; `idle`: none of that. */
                status?: "removed" | "paused" | "disabled" | "failing" | "running" | "idle";
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectReadStatePage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listReads: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
                /** @description Installation id. */
                installationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadState"][];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getBackfillProgress: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
                /** @description Installation id. */
                installationId: string;
                /** @description The provider's or the builder's name of the object. */
                objectName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackfillProgress"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    previewRead: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
                /** @description The provider's or the builder's name of the object. */
                objectName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReadPreviewRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadPreview"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listDestinations: {
        parameters: {
            query?: {
                /** @description `failing`: active, and nothing succeeded there since a failure (`failingSince`). `active`: active, and not failing. */
                state?: "active" | "failing" | "disabled";
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Destination"][] | components["schemas"]["DestinationPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createDestination: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateDestinationRequest"];
            };
        };
        responses: {
            /** @description Where a builder wants things delivered. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Destination"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getDestination: {
        parameters: {
            query?: {
                /** @description Adds the secrets, such as the signing key. Scopes `full` and `develop` only. */
                includeSecrets?: boolean;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Destination id or name. */
                destination: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where a builder wants things delivered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Destination"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteDestination: {
        parameters: {
            query?: {
                /** @description When true, deliveries that wait for the destination are canceled. */
                cancelPending?: boolean;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Destination id or name. */
                destination: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    updateDestination: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Destination id or name. */
                destination: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateDestinationRequest"];
            };
        };
        responses: {
            /** @description Where a builder wants things delivered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Destination"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    rotateDestinationSecrets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Destination id or name. */
                destination: string;
            };
            cookie?: never;
        };
        /** @description May be left away. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateDestinationRequest"];
            };
        };
        responses: {
            /** @description Where a builder wants things delivered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Destination"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    enableDestination: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Destination id or name. */
                destination: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where a builder wants things delivered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Destination"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    disableDestination: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Destination id or name. */
                destination: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where a builder wants things delivered. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Destination"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    testDestination: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Destination id or name. */
                destination: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What became of a message that was sent to try it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DestinationTest"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description Of this destination only: its id or name. */
                destination?: string;
                /** @description `pending`: waits for its first or its next attempt. `failed`: no further attempt is made by itself. `canceled`: the destination was deleted, its replay was canceled, or the project does not keep the message any longer (`keepDays.messages`). */
                status?: "pending" | "delivered" | "failed" | "canceled";
                /** @description Of this object only: the name that it is delivered under, or the provider's. */
                object?: string;
                groupRef?: string;
                installationId?: string;
                operationId?: string;
                /** @description Created at this time or later. */
                from?: string;
                /** @description Created before this time. */
                to?: string;
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getDelivery: {
        parameters: {
            query?: {
                /** @description Adds the body of the message. */
                includeBody?: boolean;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Delivery id: the `webhook-id`. */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryDetail"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    retryDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Delivery id: the `webhook-id`. */
                deliveryId: string;
            };
            cookie?: never;
        };
        /** @description May be left away. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetryDeliveryRequest"];
            };
        };
        responses: {
            /** @description A message and what became of it at its destination. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    downloadMessageResult: {
        parameters: {
            query: {
                projectId: string;
                secret: string;
            };
            header?: never;
            path: {
                messageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The `result` that the message would hold. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageResult"];
                };
            };
            400: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    replayDeliveries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayStarted"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listReplays: {
        parameters: {
            query?: {
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Replay id. */
                replayId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Messages that are sent again, the oldest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    cancelReplay: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Replay id. */
                replayId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Messages that are sent again, the oldest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getStorage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a project holds. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Storage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createErasure: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ErasureRequest"];
            };
        };
        responses: {
            /** @description The removal of what was made until it was asked for. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getErasure: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Erasure id. */
                erasureId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The removal of what was made until it was asked for. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Erasure"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    exportProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExportRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Export"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    undoExport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UndoneExport"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    importProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImportRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Import"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getNotifications: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Which events are told, and where; each destination is told once. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Notifications"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    setNotifications: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetNotificationsRequest"];
            };
        };
        responses: {
            /** @description Which events are told, and where; each destination is told once. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Notifications"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listTopics: {
        parameters: {
            query?: {
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Topic"][] | components["schemas"]["TopicPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createTopic: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TopicRequest"];
            };
        };
        responses: {
            /** @description What stands between events and destinations. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Topic"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteTopic: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Topic id. */
                topicId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    updateTopic: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Topic id. */
                topicId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TopicRequest"];
            };
        };
        responses: {
            /** @description What stands between events and destinations. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Topic"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listNotificationEventTopicRoutes: {
        parameters: {
            query?: {
                topicId?: string;
                /** @description What happened. */
                eventType?: "connection.created" | "connection.refreshed" | "connection.updated" | "connection.deleted" | "connection.error" | "installation.created" | "installation.updated" | "installation.deleted" | "read.backfill.done" | "read.backfill.error" | "read.schedule.paused" | "read.triggered.done" | "read.triggered.error" | "read.waiting" | "write.async.done" | "destination.webhook.disabled" | "destination.deliveries.failed";
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationEventTopicRoute"][] | components["schemas"]["NotificationEventTopicRoutePage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createNotificationEventTopicRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateNotificationEventTopicRouteRequest"];
            };
        };
        responses: {
            /** @description Events of this type go to this topic. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationEventTopicRoute"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listTopicDestinationRoutes: {
        parameters: {
            query?: {
                topicId?: string;
                destinationId?: string;
                /** @description With this or `pageToken` the answer is a page, 200 at a time unless told; without, the whole list. */
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopicDestinationRoute"][] | components["schemas"]["TopicDestinationRoutePage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    createTopicDestinationRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTopicDestinationRouteRequest"];
            };
        };
        responses: {
            /** @description What comes to this topic goes to this destination. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopicDestinationRoute"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteNotificationEventTopicRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Route id. */
                routeId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    deleteTopicDestinationRoute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Route id. */
                routeId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    listProxyLogs: {
        parameters: {
            query?: {
                /** @description Calls for this installation. */
                installationId?: string;
                /** @description Calls for this group. */
                groupRef?: string;
                /** @description Calls with this method. */
                method?: string;
                /** @description Calls whose path contains this. */
                path?: string;
                /** @description A status, or a class such as `4xx`. */
                status?: string;
                /** @description No calls before this time. */
                since?: string;
                /** @description Only calls before this time. */
                until?: string;
                pageSize?: number;
                /** @description `nextPageToken` of the page before. */
                pageToken?: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProxyLogEntryPage"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    searchProject: {
        parameters: {
            query: {
                /** @description An id of anything, or how it begins (8 digits at least), also a text that holds whole ids, four at the most, such as an address or a line of a log; the beginning of a group reference, of a consumer reference, of a name, or of a member’s e-mail; the id of a key; the provider’s id of a record, whole. */
                q: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchHits"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    getOverview: {
        parameters: {
            query?: {
                /** @description Of `activity`; a month is 30 days. */
                range?: "hour" | "day" | "week" | "month";
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    streamChanges: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `id` of the last event that was seen. */
                "last-event-id"?: string;
            };
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["Changes"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    writeRecords: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same request with the same key is done once, also after a lost answer; kept for 7 days, per API key. A repetition gets the first answer with the header `Idempotent-Replayed: true`, or, once a record of unknown outcome was resolved, what is known now. A dry run ignores it. */
                "idempotency-key"?: string;
                /** @description Beside an `Idempotency-Key`: where the key stands for a write that failed, and nothing of it was done or may have been, or it is an update or a delete of unknown outcome that is `retryable`, it is written again, in an operation that stands in place of the failed one (`retryOf`). Otherwise the first answer is the answer. */
                "retry-failed"?: "true";
            };
            path: {
                projectIdOrName: string;
                integrationId: string;
                objectName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WriteRequest"];
            };
        };
        responses: {
            /** @description Done. `RecordWritten` and `BatchWritten` answer synchronous writes, `WriteAccepted` asynchronous ones, `WritePlanned` a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordWritten"] | components["schemas"]["BatchWritten"] | components["schemas"]["WriteAccepted"] | components["schemas"]["WritePlanned"];
                };
            };
            /** @description The request itself is wrong. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["WriteProblem"];
                };
            };
            /** @description No credentials, or unknown ones. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["WriteProblem"];
                };
            };
            /** @description The credentials may not write. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["WriteProblem"];
                };
            };
            /** @description There is no such project, integration, installation or object. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["WriteProblem"];
                };
            };
            /** @description A request with the idempotency key is under way; or an earlier write of the record was not done in time, and nothing was sent. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["WriteProblem"];
                };
            };
            /** @description The idempotency key stands for a write that was accepted, and of which nothing is kept any more. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["WriteProblem"];
                };
            };
            /** @description The body is too large. */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["WriteProblem"];
                };
            };
            415: components["responses"]["Problem"];
            /** @description The provider refused the record, or every record of the batch; the idempotency key stands for another request; or the config, the integration or the connection does not allow the write (a problem). */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecordRefused"] | components["schemas"]["BatchWritten"];
                    "application/problem+json": components["schemas"]["WriteProblem"];
                };
            };
            /** @description Throttled; `Retry-After` says until when. */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["WriteProblem"];
                };
            };
            /** @description The provider gave no answer that makes sense. */
            502: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["WriteProblem"];
                };
            };
            /** @description Cannot be taken now; `Retry-After` says when to try again. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["WriteProblem"];
                };
            };
            /** @description The provider gave no answer in time. */
            504: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["WriteProblem"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    readRecords: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
                /** @description The provider's or the builder's name of the object. */
                objectName: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReadRequest"];
            };
        };
        responses: {
            /** @description The operation tells how far the read is. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadAccepted"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    pauseReads: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
                /** @description Installation id. */
                installationId: string;
            };
            cookie?: never;
        };
        /** @description May be left away. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PauseReadsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    unpauseReads: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
                /** @description Installation id. */
                installationId: string;
            };
            cookie?: never;
        };
        /** @description May be left away. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PauseReadsRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
    searchRecords: {
        parameters: {
            query: {
                /** @description The group whose records are searched. */
                groupRef: string;
            };
            header?: never;
            path: {
                /** @description Project id or name. */
                projectIdOrName: string;
                /** @description Integration id or name. */
                integrationId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchRequest"];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchResult"];
                };
            };
            400: components["responses"]["Problem"];
            401: components["responses"]["Problem"];
            403: components["responses"]["Problem"];
            404: components["responses"]["Problem"];
            413: components["responses"]["Problem"];
            415: components["responses"]["Problem"];
            default: components["responses"]["Problem"];
        };
    };
}
