# Aside in a container. Without arguments it is built for the CPU. compose.yaml has those for NVIDIA cards.
ARG BUILD_BASE=debian:trixie-slim
ARG RUN_BASE=debian:trixie-slim

# Install Aside into /opt/aside, and compile llama.cpp. requirements.txt fixes the versions.
FROM ${BUILD_BASE} AS build
# The tag of the base image fixes the versions of the distribution's packages.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential cmake git ninja-build python3 python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/uv && /opt/uv/bin/pip install --no-cache-dir uv==0.13.9 && python3 -m venv /opt/aside
WORKDIR /src
COPY pyproject.toml requirements.txt README.md LICENSE NOTICE ./
COPY bot bot
COPY cogs cogs
COPY personas personas
COPY models models
ARG CMAKE_ARGS=""
RUN CMAKE_ARGS="${CMAKE_ARGS}" /opt/uv/bin/uv pip install --no-cache --python /opt/aside/bin/python --constraints requirements.txt .

FROM ${RUN_BASE}
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates libgomp1 python3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin aside \
    && install --directory --owner aside --group aside /data /weights
COPY --from=build /opt/aside /opt/aside
# Models are in /weights. The database is in /data, the working folder.
ENV PATH=/opt/aside/bin:$PATH XDG_DATA_HOME=/weights XDG_STATE_HOME=/data PYTHONUNBUFFERED=1
USER aside
WORKDIR /data
VOLUME ["/data", "/weights"]
# The bot touches the file every ten seconds if Discord's gateway and the engine answer.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10m --retries=2 \
    CMD test -n "$(find /tmp/aside-is-well -mmin -1 2>/dev/null)"
ENTRYPOINT ["aside"]
CMD ["run", "--healthy", "/tmp/aside-is-well"]
