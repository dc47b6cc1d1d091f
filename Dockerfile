# The command line in an image: docker build -t karpenter-azure-harness . && docker run --rm -v "$PWD:/work" karpenter-azure-harness run tests
FROM python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b AS wheel
WORKDIR /source
COPY . .
RUN pip install --no-cache-dir --require-hashes -r requirements/core.txt \
    && pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels .

FROM python:3.13-slim@sha256:7c61056e61ac89e852de05f3dc6fa51a6dd2181797bceed46aa725dd7cb2cd3b
COPY --from=wheel /wheels /wheels
COPY requirements/image.txt /wheels/
RUN pip install --no-cache-dir --require-hashes -r /wheels/image.txt && pip install --no-cache-dir --no-deps /wheels/*.whl \
    && rm -r /wheels && useradd --create-home harness
USER harness
WORKDIR /work
ENTRYPOINT ["harness"]
