from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.middleware.csrf import get_token


def home(request):
    token = f'<input type="hidden" name="csrfmiddlewaretoken" value="{get_token(request)}">'
    return HttpResponse(f'<form method="post" action="/login/oidc/">{token}</form>')


@login_required
def profile(request):
    return JsonResponse({"username": request.user.username, "email": request.user.email})
